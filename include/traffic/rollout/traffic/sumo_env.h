/// The main of sumo_env: one SUMO simulation, child of a rollout worker.
#pragma once

namespace traffic::rollout {

/// @return exit code
int run_sumo_env(int argc, char** argv);

}  // namespace traffic::rollout
