/// The main functions of the programs of a pool of processes. The pool starts these programs.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "traffic/rollout/pool/environment.h"

namespace traffic::rollout {

/// Main function of rollout_worker: starts, watches and replaces its environments of one pool
/// after the other, until the job ends.
/// @return exit code
int run_rollout_worker(int argc, char** argv);

/// Makes an environment from the pool's settings.
using EnvMaker =
    std::function<std::unique_ptr<Environment>(std::string_view settings, const EnvPlace& place)>;

/// Main function of an environment process, a child of a rollout worker. It forks a process for
/// each episode, which takes orders through shared memory, and ends in the same way as that
/// process. An episode needs a process of its own because SUMO's results may depend on the
/// addresses of its objects, and so on earlier simulations in the same process.
/// @return exit code
int run_environment_process(int argc, char** argv, const EnvMaker& make);

}  // namespace traffic::rollout
