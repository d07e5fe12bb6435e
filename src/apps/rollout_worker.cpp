/// The program rollout_worker: starts a few simulations for the ranks of a training, watches them,
/// and replaces those that fail. Rank 0 starts this program with MPI_Comm_spawn.
#include "traffic/rollout/pool/processes.h"

int main(int argc, char** argv) { return traffic::rollout::run_rollout_worker(argc, argv); }
