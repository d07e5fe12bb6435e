/// share_on_node() gives the ranks of one node a segment of shared memory. It needs only MPI,
/// because NodeChannel, which works in shared memory, does not exist yet.
#pragma once

#include "mpi_check.h"
#include "node_memory.h"

namespace traffic::comm {

/// Collective over node_comm, the MPI communicator of the node's ranks. Its rank 0 creates the
/// segment, and the other ranks map it.
/// @throws ResourceError on all ranks if one rank cannot create or map the segment
/// @throws CommError naming the ranks of node_comm that were not ready within timeout_s
NodeMemory share_on_node(MPI_Comm node_comm, std::size_t size_bytes, double timeout_s);

}  // namespace traffic::comm
