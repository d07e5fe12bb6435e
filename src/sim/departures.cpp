// Simulates the begin of a scenario, and counts the vehicles that depart.
#include "departures.h"

#include <libsumo/Simulation.h>
#include <libsumo/Vehicle.h>

#include <algorithm>
#include <limits>

#include "stderr_capture.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"

namespace traffic::sim {

using libsumo::Simulation;

Departures watch_departures(const SumoRun& run, std::optional<double> end_s) {
  constexpr double kWatched_s = 60.0;  // simulated time after the first departure
  constexpr double kLongest_s = 10.0;  // real time after which the simulation stops
  Departures seen;
  SumoSession session;
  session.load(run);
  const double begin_s = Simulation::getTime();
  double until_s = end_s.value_or(std::numeric_limits<double>::infinity());
  const Stopwatch clock;
  try {
    const auto has_ended = [&] {
      return end_s ? Simulation::getTime() >= *end_s : Simulation::getMinExpectedNumber() == 0;
    };
    while (!has_ended() && Simulation::getTime() < until_s && clock.seconds() < kLongest_s) {
      Simulation::step();
      const auto arrived = Simulation::getArrivedIDList();
      for (const std::string& name : Simulation::getDepartedIDList()) {
        // SUMO no longer knows a vehicle whose route is shorter than a step.
        if (std::find(arrived.begin(), arrived.end(), name) != arrived.end()) continue;
        if (seen.types.empty()) until_s = std::min(until_s, Simulation::getTime() + kWatched_s);
        ++seen.types[libsumo::Vehicle::getTypeID(name)];
      }
    }
    seen.is_whole = has_ended();
    seen.time_s = Simulation::getTime() - begin_s;
  } catch (const std::exception& e) {
    throw DataError("simulation {} fails after {:g} s: {}", run.sumocfg.string(),
                    Simulation::getTime() - begin_s, one_line(e.what()));
  }
  return seen;
}

}  // namespace traffic::sim
