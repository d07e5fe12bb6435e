/// The mains of the two programs that a pool of simulations is made of. Neither is started by hand.
#pragma once

namespace traffic::rollout {

/// rollout_worker: starts, watches and replaces its simulations until the ranks are done or gone.
/// @return exit code
int run_rollout_worker(int argc, char** argv);

/// sumo_env: one SUMO simulation, child of a rollout worker, driven through shared memory.
/// @return exit code
int run_sumo_env(int argc, char** argv);

}  // namespace traffic::rollout
