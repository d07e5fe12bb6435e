/// Vehicles that a scenario's route files bring, by type and route, without driving them.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sumo_options.h"

namespace traffic::sim {

/// A route whose edges are written out, or a pair of ends that SUMO finds a way between.
struct DemandRoute {
  std::string name;                ///< of a named one, else "first edge to last edge"
  std::vector<std::string> edges;  ///< empty: not written out
};

/// Expected vehicles of one type on one route.
struct DemandPart {
  std::string type;
  std::string route;  ///< key of Demand::routes
  double vehicles = 0;
};

struct Demand {
  std::map<std::string, DemandRoute> routes;
  std::vector<DemandPart> parts;
  double random_vehicles = 0;
  bool has_endless_flow = false;
  double last_depart_s = 0;  ///< SUMO's time
};

/// @param end_s of the simulation, SUMO's time; nothing: none
/// @throws DataError if a file cannot be read
Demand read_demand(const SumoOptions& options, double begin_s, std::optional<double> end_s);

}  // namespace traffic::sim
