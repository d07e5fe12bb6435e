/// The program rollout_worker: keeps a few SUMO simulations running for the ranks of a training.
/// Rank 0 starts it with MPI_Comm_spawn.
#include "traffic/rollout/pool/processes.h"

int main(int argc, char** argv) { return traffic::rollout::run_rollout_worker(argc, argv); }
