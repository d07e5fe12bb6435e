/// Takes part in a simulation that somebody else has started, as one of its TraCI clients.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "traffic/sim/sumo_env.h"

namespace traffic::sim {

/// Address of a running simulation, and how to behave as its client.
struct RunningSimulation {
  std::string host = "127.0.0.1";
  int port = 8813;
  int order = 1;            ///< in each step SUMO serves its clients in the order of these numbers
  double patience_s = 600;  ///< maximum time to wait for an answer; 0: for ever
  /// Called with a line for the user when SUMO has not answered for 10 s; may be empty.
  std::function<void(const std::string&)> say = {};
};

/// Connects to a running SUMO and checks that it simulates the network of options.scenario.
///
/// SUMO gives each client a turn in each step. In its turn this program reads the traffic and gives
/// its commands, both in few messages. It subscribes to nothing, because SUMO would send the values
/// to all clients.
/// @throws WorkerError if nobody listens at the address, or SUMO does not answer in time
/// @throws ConfigError if SUMO's version is not sumo_version()
/// @throws DataError if the networks differ
std::unique_ptr<SumoEnv> join_simulation(const EnvOptions& options,
                                         const RunningSimulation& simulation);

}  // namespace traffic::sim
