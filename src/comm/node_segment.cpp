// Gives the ranks of one node a segment of shared memory (node_segment.h).
#include "node_segment.h"

#include <unistd.h>

#include <array>
#include <string>

#include "rendezvous.h"
#include "traffic/core/error.h"

namespace traffic::comm {
namespace {

constexpr const char* kCreating =
    "creating the shared memory of a node (ranks are counted within the node)";
constexpr const char* kMapping =
    "mapping the shared memory of a node (ranks are counted within the node)";

/// Runs the action. @return the text of its ResourceError; empty if there was none
template <typename Action>
std::string attempt(Action&& action) {
  try {
    action();
    return {};
  } catch (const ResourceError& error) {
    return error.what();
  }
}

}  // namespace

// Allocating memory may take long, and a collective of MPI waits for ever. A rendezvous with a
// deadline therefore precedes each collective.
NodeMemory share_on_node(MPI_Comm node_comm, std::size_t size_bytes, double timeout_s) {
  int rank = 0;
  TRAFFIC_MPI(MPI_Comm_rank(node_comm, &rank));
  NodeMemory segment;
  std::string problem;
  if (rank == 0) problem = attempt([&] { segment = create_node_memory(size_bytes); });
  std::array<int, 2> owner = {static_cast<int>(getpid()), segment.file.get()};
  rendezvous(node_comm, kCreating, timeout_s);
  TRAFFIC_MPI(MPI_Bcast(owner.data(), 2, MPI_INT, 0, node_comm));
  if (rank != 0 && owner[1] >= 0) {
    problem = attempt([&] { segment = open_node_memory(owner[0], owner[1], size_bytes); });
  }
  const int mine = problem.empty() ? 1 : 0;
  int all = 0;
  rendezvous(node_comm, kMapping, timeout_s);
  TRAFFIC_MPI(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, node_comm));
  segment.file.reset();
  if (!problem.empty()) throw ResourceError(problem);
  if (all == 0) throw ResourceError("another rank of this node could not set up shared memory");
  return segment;
}

}  // namespace traffic::comm
