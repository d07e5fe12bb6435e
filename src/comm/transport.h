/// Over what MPI's own messages go.
#pragma once

namespace traffic::comm {

/// To be called before MPI_Init. What the environment says stays.
/// Open MPI's shared-memory transport keeps files in /dev/shm, leaves them there when mpirun is
/// killed, and does not reach processes that are spawned later. Our bulk data has memory of its
/// own, so messages go over TCP; in a job of one machine through its loopback, which is there
/// without a network and stays when a laptop leaves one.
void choose_transport();

}  // namespace traffic::comm
