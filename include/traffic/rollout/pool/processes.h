/// The main functions of the two programs that WorkerPool starts: rollout_worker, which keeps
/// environment processes running, and the environment process itself (for SUMO: sumo_env).
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "traffic/rollout/pool/environment.h"

namespace traffic::rollout {

/// Main function of rollout_worker. It starts, watches and replaces the environment processes that
/// a pool assigns to it. When the pool ends, it serves the next pool, until the job ends.
/// @return exit code
int run_rollout_worker(int argc, char** argv);

/// Makes an environment from the pool's settings.
using EnvMaker =
    std::function<std::unique_ptr<Environment>(std::string_view settings, const EnvPlace& place)>;

/// Main function of an environment process, a child of a rollout worker. For each episode it forks
/// a process, which receives orders through shared memory. If that process fails, this process ends
/// with the same exit code or signal.
///
/// An episode needs a process of its own because SUMO's results may depend on the memory addresses
/// of its objects. These addresses would depend on earlier simulations in the same process.
/// @return exit code
int run_environment_process(int argc, char** argv, const EnvMaker& make);

}  // namespace traffic::rollout
