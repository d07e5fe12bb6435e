/// A shared segment for the ranks of one node, set up over MPI before any other channel exists.
#pragma once

#include "mpi_check.h"
#include "node_memory.h"

namespace traffic::comm {

/// Collective over node_comm: its rank 0 creates the segment, the others map it.
/// @throws ResourceError on all of its ranks if one of them cannot, CommError naming the ranks of
///   node_comm that were not ready within timeout_s
NodeMemory share_on_node(MPI_Comm node_comm, std::size_t size_bytes, double timeout_s);

}  // namespace traffic::comm
