/// The program sumo_env: runs one SUMO simulation in a process of its own. The program
/// rollout_worker starts this process, watches it, and replaces it if it fails.
#include "traffic/rollout/traffic/sumo_env.h"

int main(int argc, char** argv) { return traffic::rollout::run_sumo_env(argc, argv); }
