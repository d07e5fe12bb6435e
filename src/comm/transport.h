/// The transport of MPI's own messages.
#pragma once

namespace traffic::comm {

/// Call it before MPI_Init. It keeps what the environment sets. Open MPI's shared-memory transport
/// keeps files in /dev/shm, leaves them there when mpirun is killed, and does not reach processes
/// that are spawned later. Our bulk data use memory of their own, so MPI's messages go over TCP. In
/// a job on one machine they use its loopback interface, which works without a network.
void choose_transport();

}  // namespace traffic::comm
