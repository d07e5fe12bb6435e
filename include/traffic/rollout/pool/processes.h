/// The mains of the programs that a pool of processes is made of. None is started by hand.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "traffic/rollout/pool/environment.h"

namespace traffic::rollout {

/// rollout_worker: starts, watches and replaces its environments until the ranks are done or gone.
/// @return exit code
int run_rollout_worker(int argc, char** argv);

/// Makes an environment from the pool's settings.
using EnvMaker =
    std::function<std::unique_ptr<Environment>(std::string_view settings, const EnvPlace& place)>;

/// One environment, child of a rollout worker, driven through shared memory. Each episode is a
/// process of its own, forked from this one, which does nothing itself: what SUMO computes may
/// depend on where in memory its objects are, and so on what its process simulated before. This
/// process stops and ends as those do.
/// @return exit code
int run_environment_process(int argc, char** argv, const EnvMaker& make);

}  // namespace traffic::rollout
