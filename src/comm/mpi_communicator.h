/// MpiCommunicator is the communicator for CPU tensors. It uses shared memory within a node, and
/// MPI between the leaders of nodes. The leader is the lowest rank of a node.
///
/// shared_zeros() allocates an arena, a tensor in memory that the ranks of a node share. On one
/// node arenas are reduced in place: each rank reduces its own slice over all ranks' arenas and
/// writes the result to every arena. Other tensors are copied in chunks through the stages of
/// NodeChannel (buffers in shared memory). Across nodes the leaders exchange the results of their
/// nodes. Sums have the same bits on one node as on several (sum_plan.h).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arena_registry.h"
#include "leader_channel.h"
#include "node_channel.h"
#include "sum_plan.h"
#include "traffic/comm/communicator.h"

namespace traffic::comm {

struct MpiCommunicatorOptions {
  double timeout_s = 1800;     ///< time limit of an operation
  double init_timeout_s = 60;  ///< time limit of the constructor
  /// Tests pass a node for every rank in order to split one machine into several nodes. Empty means
  /// the real nodes.
  std::vector<int> node_of_rank = {};
};

/// Offsets in an array, in bytes.
struct ByteRange {
  std::int64_t begin;
  std::int64_t end;
  [[nodiscard]] std::int64_t bytes() const { return end - begin; }
};

class MpiCommunicator final : public Communicator {
 public:
  /// Collective over the session.
  MpiCommunicator(const MpiSession& session, const MpiCommunicatorOptions& options);

  void barrier() override;
  /// Waits for all ranks and checks that they are about to run the same operation on their GPUs.
  /// @return a description of the operation with its number, for messages
  std::string announce(const OpHeader& header);
  at::Tensor shared_zeros(std::int64_t count, at::ScalarType dtype) override;
  [[nodiscard]] at::Device device() const override { return at::kCPU; }
  [[nodiscard]] double waited_s() const override {
    return node_->waited_s() + (leaders_ ? leaders_->waited_s() : 0.0);
  }

 protected:
  void do_all_reduce(const at::Tensor& tensor, ReduceOp op) override;
  double do_all_reduce_scaled(const at::Tensor& tensor, double scale) override;
  void do_broadcast(const at::Tensor& tensor, int root) override;
  void do_all_gather(const at::Tensor& tensor, const at::Tensor& into) override;

 private:
  /// One operation in progress. The ranks of a node wait longer for their leader than the leader
  /// waits for the other leaders. The leader then reports first, and only it knows which other node
  /// is missing.
  struct Call {
    OpHeader header;
    Deadline node;         ///< for the first round (see meet()), in which all ranks arrive
    Deadline leaders;      ///< for messages between leaders
    Deadline settle;       ///< for later rounds, in which the ranks wait for their leader
    bool has_met = false;  ///< the first round is over
  };
  /// A part of the sum over all ranks (sum_plan.h) that this node computes.
  struct LocalPart {
    std::vector<int> local_ranks;  ///< the ranks whose values it contains
    Merges merges;                 ///< order in which they are summed
  };
  static constexpr std::size_t kStage = NodeChannel::kStageBytes;

  static std::byte* bytes_of(const at::Tensor& tensor);
  /// Numbers and runs one operation. If `body` throws an Error, the communicator is broken on this
  /// rank and on the others.
  void run(OpHeader header, const std::function<void(Call&)>& body);
  void give_up(const std::string& reason, const std::string& report) noexcept;
  /// Waits until all ranks of the node have called it: one round of NodeChannel. In the first round
  /// of an operation the leaders also compare headers across nodes.
  void meet(Call& call);
  /// Whether there are several nodes, so that leaders exchange data.
  [[nodiscard]] bool has_leaders() const { return topology().num_nodes() > 1; }

  void reduce_small(std::byte* data, std::size_t bytes, Call& call);
  void reduce_staged_part(const LocalPart& part, std::span<std::byte* const> destinations,
                          ByteRange slice, const Call& call);
  void reduce_staged(std::byte* data, std::size_t bytes, Call& call);
  void reduce_chunk(std::byte* data, std::size_t bytes, Call& call);
  void reduce_chunk_of_nodes(std::byte* data, std::size_t bytes, Call& call);
  [[nodiscard]] std::vector<std::byte*> destinations_of(const LocalPart& part,
                                                        const ArenaPlace& place,
                                                        ByteRange slice) const;
  void reduce_in_arena(const ArenaPlace& place, std::int64_t count, Call& call);
  double reduce_scaled_in_arena(const ArenaPlace& place, std::int64_t count, Call& call);
  double add_up_squares(const std::vector<double>& own, const ArenaPlace& place, std::int64_t count,
                        Call& call);
  void spread_from_leader(const ArenaPlace& place, std::size_t bytes, Call& call);
  void broadcast_chunk(std::byte* data, std::size_t bytes, int root_local, Call& call);
  void gather_chunk(const std::byte* mine, std::size_t bytes, std::byte* into,
                    std::size_t row_bytes, Call& call);
  void gather_from_nodes(std::size_t bytes, std::byte* into, std::size_t row_bytes, Call& call);
  std::string map_segment(NodeMemory& segment, std::size_t bytes_per_rank, Call& call);
  std::string first_problem(const std::string& own, Call& call);

  double timeout_s_;
  std::vector<LocalPart> local_parts_;
  std::optional<NodeChannel> node_;
  std::optional<LeaderChannel> leaders_;  ///< only on leaders, and only with more than one node
  ArenaRegistry arenas_;
  std::uint64_t sequence_ = 0;  ///< number of operations so far
  std::string broken_;          ///< the error that broke the communicator; empty if it works
};

}  // namespace traffic::comm
