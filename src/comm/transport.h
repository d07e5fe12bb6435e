/// choose_transport() selects how Open MPI transports its messages.
#pragma once

namespace traffic::comm {

/// Makes MPI send its messages over TCP, by environment variables that Open MPI reads. Variables
/// that are already set keep their values. Call it before MPI_Init.
///
/// Open MPI would otherwise use its own shared-memory transport. This transport leaves files in
/// /dev/shm when mpirun is killed, and does not reach processes that are spawned later. TCP is fast
/// enough, because the ranks of a node exchange bulk data through this module's own shared memory.
/// In a job on one machine MPI uses the loopback interface, which works without a network.
void choose_transport();

}  // namespace traffic::comm
