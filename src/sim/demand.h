/// Counts the vehicles that a scenario's files define, by type and route, without a simulation.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sumo_options.h"
#include "traffic/core/error.h"

namespace traffic::sim {

/// A route with all its edges, or two ends between which SUMO finds a route.
struct DemandRoute {
  std::string name;                ///< id of the route, else "first edge to last edge"
  std::vector<std::string> edges;  ///< empty if only the ends are known
};

/// Expected vehicles of one type on one route.
struct DemandPart {
  std::string type;
  std::string route;  ///< key of Demand::routes
  double vehicles = 0;
};

/// If neither a flow nor the simulation has an end, the flow's vehicles are counted for this time.
inline constexpr double kEndlessFlowCounted_s = 3600.0;

struct Demand {
  std::map<std::string, DemandRoute> routes;
  std::vector<DemandPart> parts;
  double random_vehicles = 0;     ///< vehicles whose departure times depend on the seed
  bool has_endless_flow = false;  ///< a flow that only the end of the simulation ends
  double last_depart_s = 0;       ///< SUMO's time
  std::set<std::string> sources;  ///< elements whose vehicles are not counted, such as "calibrator"
  std::set<std::string> outputs;  ///< elements that write a file, such as "inductionLoop"
};

/// The error for a file that SUMO must not read, because it would crash or wait for ever: a file
/// that includes itself, files nested too deep, or a pipe.
class EndlessFile : public DataError {
  using DataError::DataError;
};

/// Refuses a pipe, because this program and SUMO each read a file several times.
/// @throws EndlessFile
void refuse_pipe(const std::filesystem::path& file);

/// Counts the vehicles of the scenario's route files and additional files.
/// @param begin_s SUMO's time at which the simulation begins
/// @param end_s SUMO's time at which the simulation ends; nothing: it has no end
/// @throws DataError if a file cannot be read, or has other text where a number belongs
/// @throws EndlessFile
Demand read_demand(const SumoOptions& options, double begin_s, std::optional<double> end_s);

}  // namespace traffic::sim
