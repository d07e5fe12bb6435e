/// The transport of MPI's own messages.
#pragma once

namespace traffic::comm {

/// Chooses the transport by environment variables; those that are set already stay as they are.
/// Call it before MPI_Init. Open MPI's shared-memory transport keeps files in /dev/shm, leaves them
/// there when mpirun is killed, and does not reach processes that are spawned later. This module
/// exchanges bulk data through shared memory of its own, so MPI's messages go over TCP. In a job on
/// one machine they use its loopback interface, which works without a network.
void choose_transport();

}  // namespace traffic::comm
