/// Communicator for CPU tensors: shared memory within a node, MPI between the leaders of nodes.
///
/// On one node an arena is reduced where it lies: each rank reduces its own slice over all ranks'
/// arenas and writes the result to all of them. Other tensors go through the stages of NodeChannel
/// piece by piece. Across nodes the leaders exchange what their nodes have reduced.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "arena_registry.h"
#include "leader_channel.h"
#include "node_channel.h"
#include "traffic/comm/communicator.h"

namespace traffic::comm {

struct MpiCommunicatorOptions {
  double timeout_s = 1800;
  double init_timeout_s = 60;
  int ranks_per_node = 0;  ///< tests cut one machine into nodes of so many ranks; 0: as it is
};

class MpiCommunicator final : public Communicator {
 public:
  /// Collective over the session.
  MpiCommunicator(const MpiSession& session, const MpiCommunicatorOptions& options);

  void barrier() override;
  /// Meets all ranks and compares what they are about to do elsewhere (on their GPUs).
  /// @return the operation with its number, for messages
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
  /// One operation under way. The ranks of a node wait longer for their leader's work than the
  /// leader for its peers: whoever knows the missing rank speaks first.
  struct Call {
    OpHeader header;
    Deadline node;
    Deadline leaders;
    Deadline settle;
    bool has_met = false;
  };
  static constexpr std::size_t kStage = NodeChannel::kStageBytes;

  static std::byte* bytes_of(const at::Tensor& tensor);
  /// Numbers and runs one operation; an Error in it breaks the communicator, here and for the other
  /// ranks.
  void run(OpHeader header, const std::function<void(Call&)>& body);
  void give_up(const std::string& reason, const std::string& report) noexcept;
  /// One round of the node's ranks. The first of an operation also compares headers across nodes.
  void meet(Call& call);
  [[nodiscard]] bool has_leaders() const { return topology().num_nodes() > 1; }

  void reduce_small(std::byte* data, std::size_t bytes, Call& call);
  void reduce_staged(std::byte* data, std::size_t bytes, Call& call);
  void reduce_chunk(std::byte* data, std::size_t bytes, Call& call);
  void reduce_in_arena(const ArenaPlace& place, std::int64_t count, Call& call);
  double reduce_scaled_in_arena(const ArenaPlace& place, std::int64_t count, Call& call);
  double share_sum(double part, Call& call);
  void spread_from_leader(const ArenaPlace& place, std::size_t bytes, Call& call);
  void broadcast_chunk(std::byte* data, std::size_t bytes, int root_local, Call& call);
  void gather_chunk(const std::byte* mine, std::size_t bytes, std::byte* into,
                    std::size_t row_bytes, Call& call);
  void gather_from_nodes(std::size_t bytes, std::byte* into, std::size_t row_bytes, Call& call);
  std::string map_segment(NodeMemory& segment, std::size_t bytes_per_rank, Call& call);
  std::string first_problem(const std::string& own, Call& call);

  double timeout_s_;
  std::optional<NodeChannel> node_;
  std::optional<LeaderChannel> leaders_;  ///< on leaders, with more than one node
  ArenaRegistry arenas_;
  std::uint64_t sequence_ = 0;
  std::string broken_;  ///< by what
};

}  // namespace traffic::comm
