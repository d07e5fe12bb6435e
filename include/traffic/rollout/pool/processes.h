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

/// One environment in a process of its own, child of a rollout worker, driven through shared
/// memory. The environment is not destroyed: what it links may not survive that.
/// @return exit code
int run_environment_process(int argc, char** argv, const EnvMaker& make);

}  // namespace traffic::rollout
