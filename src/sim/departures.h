/// Counts the vehicles that depart in the first minute of a scenario's traffic, by a simulation.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "sumo_session.h"

namespace traffic::sim {

struct Departures {
  std::map<std::string, std::int64_t> types;  ///< vehicles that have departed, by type
  double time_s = 0;                          ///< simulated time since the begin
  bool is_whole = false;                      ///< whether the whole episode was simulated
};

/// Simulates without control until a minute after the first departure. Stops earlier at the end of
/// the episode, or after a few seconds of real time.
/// @param end_s SUMO's time at which the episode ends; nothing: it ends when all vehicles have
///   arrived
/// @throws DataError with SUMO's own message
Departures watch_departures(const SumoRun& run, std::optional<double> end_s);

}  // namespace traffic::sim
