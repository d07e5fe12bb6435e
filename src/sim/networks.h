/// Reads the network of each scenario once, however often a simulation loads it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "traffic/scene/road_state.h"

namespace traffic::sim {

/// Objects that all episodes on a network share.
struct Network {
  std::shared_ptr<const scene::Road> road;
  std::shared_ptr<scene::RoutePlans> plans;  ///< plans of the routes that vehicles had so far
  std::shared_ptr<scene::RoadState> state;   ///< reset for each episode
};

class Networks {
 public:
  explicit Networks(const scene::ShieldLimits& limits) : limits_(limits) {}
  /// @throws DataError if the file cannot be read
  const Network& of(const std::string& file);

 private:
  scene::ShieldLimits limits_;
  std::map<std::string, Network> known_;
};

}  // namespace traffic::sim
