// MpiCommunicator: start, agreement on each operation, failures, and shared memory for tensors.
// mpi_reductions.cpp and mpi_collectives.cpp contain the operations.
#include "mpi_communicator.h"

#include <ATen/ops/from_blob.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "node_segment.h"
#include "traffic/core/error.h"

namespace traffic::comm {
namespace {

Topology choose_topology(const MpiSession& session, const std::vector<int>& node_of_rank) {
  return node_of_rank.empty() ? session.topology() : make_topology(session.rank(), node_of_rank);
}

/// What the leader of a node tells the node's other ranks about a new shared segment: where to find
/// it, or the error that prevented its creation. NodeChannel copies the struct through shared
/// memory.
struct SegmentOffer {
  pid_t pid;          ///< process id of the leader
  int descriptor;     ///< the leader's descriptor of the segment; -1 if there is none
  char problem[512];  ///< text of the error; empty if there is none
};

void set_problem(SegmentOffer& offer, const std::string& problem) {
  const std::size_t length = std::min(problem.size(), sizeof(offer.problem) - 1);
  std::memcpy(offer.problem, problem.data(), length);
  offer.problem[length] = '\0';
}

/// bytes * local_size, or the maximum of size_t if the product overflows.
std::size_t multiply(std::size_t bytes, int local_size) {
  std::size_t product = 0;
  const bool overflows =
      __builtin_mul_overflow(bytes, static_cast<std::size_t>(local_size), &product);
  return overflows ? std::numeric_limits<std::size_t>::max() : product;
}

}  // namespace

std::byte* MpiCommunicator::bytes_of(const at::Tensor& tensor) {
  return static_cast<std::byte*>(tensor.mutable_data_ptr());
}

MpiCommunicator::MpiCommunicator(const MpiSession& session, const MpiCommunicatorOptions& options)
    : Communicator(choose_topology(session, options.node_of_rank)), timeout_s_(options.timeout_s) {
  session.rendezvous("start of a communicator", options.init_timeout_s);
  const Topology& nodes = topology();
  const SumPlan plan = plan_sum(nodes.node_of_rank);
  for (const SumPart& part : plan.parts) {
    if (part.node != nodes.node()) continue;
    LocalPart& mine = local_parts_.emplace_back();
    mine.merges = tree_merges(part.num_ranks);
    const auto first = std::ranges::find(nodes.local_ranks, part.first_rank);
    for (int i = 0; i < part.num_ranks; ++i) {
      mine.local_ranks.push_back(static_cast<int>(first - nodes.local_ranks.begin()) + i);
    }
  }
  const MPI_Comm world = MPI_Comm_f2c(session.fortran_comm());
  const MpiComm node = MpiComm::split(world, nodes.node(), nodes.rank);
  // MPI_Comm_split has no deadline. Both splits therefore run now, when the rendezvous has shown
  // that all ranks are present. Later, ranks may be late because allocating a node's memory takes
  // long.
  MpiComm leaders;
  if (nodes.num_nodes() > 1) {
    leaders = MpiComm::split(world, nodes.is_leader() ? 0 : MPI_UNDEFINED, nodes.rank);
  }
  node_.emplace(share_on_node(node.get(), NodeChannel::segment_bytes(nodes.local_size()),
                              options.init_timeout_s),
                nodes.local_ranks, nodes.local_rank());
  if (leaders.get() != MPI_COMM_NULL)
    leaders_.emplace(std::move(leaders), nodes.leaders, nodes.node(), plan, *node_);
}

void MpiCommunicator::run(OpHeader header, const std::function<void(Call&)>& body) {
  header.sequence = ++sequence_;
  if (!broken_.empty()) {
    throw CommError("{} cannot start, because an earlier operation has failed: {}",
                    describe(header), broken_);
  }
  const double grace = has_leaders() ? grace_s(timeout_s_) : 0.0;
  Call call{header, Deadline(timeout_s_), Deadline(timeout_s_ + grace),
            Deadline(timeout_s_ + 2 * grace)};
  try {
    body(call);
  } catch (const PeerFailure& error) {
    give_up(error.what(), error.what());
    throw;
  } catch (const Error& error) {
    give_up(error.what(), fmt::format("rank {} reports: {}", rank(), error.what()));
    throw;
  }
}

void MpiCommunicator::give_up(const std::string& reason, const std::string& report) noexcept {
  broken_ = reason;
  node_->fail(report);
  if (leaders_) leaders_->fail(report);
}

void MpiCommunicator::meet(Call& call) {
  const bool is_first = !std::exchange(call.has_met, true);
  node_->exchange(call.header, is_first ? call.node : call.settle);
  if (is_first && leaders_) leaders_->agree(call.header, call.leaders);
}

void MpiCommunicator::barrier() { announce({.op = OpCode::kBarrier}); }

std::string MpiCommunicator::announce(const OpHeader& header) {
  std::string name;
  run(header, [&](Call& call) {
    meet(call);
    if (has_leaders()) meet(call);
    name = describe(call.header);
  });
  return name;
}

at::Tensor MpiCommunicator::shared_zeros(std::int64_t count, at::ScalarType dtype) {
  TRAFFIC_CHECK(count > 0, "an arena has {} elements, expected at least 1", count);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(count), at::elementSize(dtype), &bytes) ||
      bytes > std::numeric_limits<std::size_t>::max() - NodeChannel::kPageBytes) {
    throw ShapeError("an arena of {} elements of type {} is too large", count, toString(dtype));
  }
  const std::size_t bytes_per_rank =
      (bytes + NodeChannel::kPageBytes - 1) / NodeChannel::kPageBytes * NodeChannel::kPageBytes;
  auto segment = std::make_shared<NodeMemory>();
  std::string problem;
  run({.bytes = bytes, .op = OpCode::kSharedZeros, .dtype = dtype},
      [&](Call& call) { problem = map_segment(*segment, bytes_per_rank, call); });
  if (!problem.empty()) throw ResourceError(problem);
  const int local = topology().local_rank();
  arenas_.add(segment, local, bytes_per_rank);
  std::byte* own = segment->data() + static_cast<std::size_t>(local) * bytes_per_rank;
  return at::from_blob(
      own, {count}, [segment](void*) mutable { segment.reset(); },
      at::TensorOptions().dtype(dtype));
}

/// Creates the segment on the leader and maps it on the other ranks of the node.
/// @return the error of one rank, the same text on all ranks; empty if all ranks succeeded
std::string MpiCommunicator::map_segment(NodeMemory& segment, std::size_t bytes_per_rank,
                                         Call& call) {
  const std::size_t total = multiply(bytes_per_rank, node_->size());
  SegmentOffer offer{.pid = getpid(), .descriptor = -1, .problem = {}};
  if (topology().is_leader()) {
    try {
      segment = create_node_memory(total);
      offer.descriptor = segment.file.get();
    } catch (const ResourceError& error) {
      set_problem(offer, error.what());
    }
  }
  std::memcpy(node_->stage(), &offer, sizeof(offer));
  meet(call);
  std::memcpy(&offer, node_->staged(0), sizeof(offer));
  std::string problem = offer.problem;
  if (problem.empty() && !topology().is_leader()) {
    try {
      segment = open_node_memory(offer.pid, offer.descriptor, total);
    } catch (const ResourceError& error) {
      problem = error.what();
    }
  }
  problem = first_problem(problem, call);
  segment.file.reset();
  return problem;
}

/// Exchanges errors between all ranks.
/// @param own this rank's error; empty if this rank succeeded
/// @return the first text that is not empty, the same on all ranks; empty if all ranks succeeded
std::string MpiCommunicator::first_problem(const std::string& own, Call& call) {
  SegmentOffer offer{};
  set_problem(offer, own);
  std::memcpy(node_->stage(), &offer, sizeof(offer));
  meet(call);
  for (int local = node_->size() - 1; local >= 0; --local) {
    SegmentOffer other;
    std::memcpy(&other, node_->staged(local), sizeof(other));
    if (other.problem[0] != '\0') offer = other;
  }
  if (!has_leaders()) return offer.problem;
  if (leaders_) {
    const std::vector<std::size_t> sizes(topology().leaders.size(), sizeof(offer));
    const auto* bytes = reinterpret_cast<const std::byte*>(&offer);
    const std::vector<std::byte> all =
        leaders_->all_gather(bytes, sizes, call.header, call.leaders);
    for (std::size_t node = sizes.size(); node-- > 0;) {
      SegmentOffer other;
      std::memcpy(&other, all.data() + node * sizeof(other), sizeof(other));
      if (other.problem[0] != '\0') offer = other;
    }
    std::memcpy(node_->stage(), &offer, sizeof(offer));
  }
  meet(call);
  std::memcpy(&offer, node_->staged(0), sizeof(offer));
  return offer.problem;
}

}  // namespace traffic::comm
