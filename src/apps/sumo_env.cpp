/// One SUMO simulation in a process of its own; rollout_worker starts, watches and replaces it.
#include "traffic/rollout/traffic/sumo_env.h"

int main(int argc, char** argv) { return traffic::rollout::run_sumo_env(argc, argv); }
