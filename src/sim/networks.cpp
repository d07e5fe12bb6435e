// Reads each network when it is first needed, and keeps it.
#include "networks.h"

namespace traffic::sim {

const Network& Networks::of(const std::string& file) {
  Network& network = known_[file];
  if (!network.road) {
    network.road = std::make_shared<scene::Road>(scene::read_road(file));
    network.plans = std::make_shared<scene::RoutePlans>(*network.road);
    network.state = std::make_shared<scene::RoadState>(network.road, limits_);
  }
  return network;
}

}  // namespace traffic::sim
