/// How the leaders of nodes (the lowest rank of each) talk to each other: MPI messages, polled with
/// a back-off, so that a leader that does not come is noticed. A reduction is cut in pieces and
/// each piece in as many ranges as there are leaders; every leader gets all parts of its range,
/// makes their sum in the order of sum_plan.h and sends it to the others. A few pieces are under
/// way at a time, so that the link is busy while a leader adds.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mpi_check.h"
#include "node_channel.h"
#include "op_header.h"
#include "sum_plan.h"
#include "waiting.h"

namespace traffic::comm {

class LeaderChannel {
 public:
  /// Collective over them.
  /// @param comm the leaders; its rank n is leaders[n], the leader of node n
  /// @param plan what all_reduce sums, and in which order
  /// @param node the leader's own node, asked for failures while waiting; must outlive this
  LeaderChannel(MpiComm comm, std::vector<int> leaders, int node_index, SumPlan plan,
                const NodeChannel& node);
  ~LeaderChannel();
  LeaderChannel(const LeaderChannel&) = delete;
  LeaderChannel& operator=(const LeaderChannel&) = delete;

  // All throw CommError naming the leader that is missing, is in another operation, or reported a
  // failure.

  /// Meets the other leaders and compares headers; to be called before the data of an operation.
  void agree(const OpHeader& header, const Deadline& deadline);
  /// @param parts the sums of this node's parts of the plan, in its order; are written to
  /// @param result where their sum with all other nodes' parts goes; may be the first part
  void all_reduce(std::span<std::byte* const> parts, std::byte* result, std::int64_t bytes,
                  const OpHeader& header, const Deadline& deadline);
  /// In place; at most the stage of a node.
  void broadcast(std::byte* data, std::size_t bytes, int root_node, const OpHeader& header,
                 const Deadline& deadline);
  /// Concatenates the leaders' bytes in the order of nodes.
  /// @param bytes_of_node how many each of them brings
  std::vector<std::byte> all_gather(const std::byte* mine,
                                    std::span<const std::size_t> bytes_of_node,
                                    const OpHeader& header, const Deadline& deadline);

  /// Lets the other leaders stop waiting, with this text, and gives the connection up.
  void fail(const std::string& message) noexcept;

  /// Seconds spent waiting for other leaders and their data; for any thread.
  [[nodiscard]] double waited_s() const { return waited_s_.load(std::memory_order_relaxed); }

 private:
  using Text = std::array<char, 1024>;
  using HostName = std::array<char, 64>;
  struct Transfer {
    MPI_Request request;
    int peer;
    bool is_receive;
  };

  /// A piece of a reduction under way.
  struct Piece {
    enum class State { kIdle, kScatters, kGathers };
    State state = State::kIdle;
    std::int64_t begin = 0;  ///< bytes
    std::int64_t bytes = 0;
    std::vector<Transfer> transfers = {};
    std::vector<std::byte> inbox = {};  ///< the other nodes' parts of this leader's range
  };
  struct Reducing {
    std::span<std::byte* const> parts;
    std::byte* result;
    const OpHeader& header;
    std::int64_t element;
  };
  static constexpr std::size_t kPiecesAtOnce = 4;
  /// Data keeps coming: the socket's buffers run dry in less than the usual back-off's millisecond.
  static constexpr int kLongestSleepUs = 50;

  void receive(std::byte* data, std::size_t bytes, int peer);
  void send(const std::byte* data, std::size_t bytes, int peer);
  void finish(const OpHeader& header, const Deadline& deadline);
  void throw_if_failed();
  /// @return whether all are done; those that are not stay
  static bool test(std::vector<Transfer>& transfers);
  void start_receive(std::vector<Transfer>& transfers, std::span<std::byte> data, int peer,
                     int tag) const;
  void start_send(std::vector<Transfer>& transfers, std::span<const std::byte> data, int peer,
                  int tag) const;
  void scatter(Piece& piece, std::size_t slot, const Reducing& what);
  void sum_range(Piece& piece, const Reducing& what);
  void gather(Piece& piece, std::size_t slot, const Reducing& what);
  bool advance(std::size_t slot, const Reducing& what);
  [[nodiscard]] std::vector<Transfer> all_transfers() const;
  void check_health(const OpHeader& header, const Deadline& deadline);
  void listen();

  MpiComm comm_;
  std::vector<int> leaders_;
  int node_index_;
  SumPlan plan_;
  std::vector<std::vector<std::size_t>> parts_of_node_;  ///< [nodes] indices of the plan's parts
  const NodeChannel& node_;
  std::array<Piece, kPiecesAtOnce> pieces_;
  std::vector<Transfer> transfers_;
  std::vector<std::byte> inbox_;   ///< a member, so that it outlives a failed operation
  std::vector<OpHeader> headers_;  ///< [nodes]
  std::vector<HostName> hosts_;    ///< [nodes]
  OpHeader own_header_;
  Text reported_{};  ///< a failure that another leader reported
  Text report_{};    ///< this leader's own
  MPI_Request listener_ = MPI_REQUEST_NULL;
  bool failed_ = false;
  std::atomic<double> waited_s_ = 0.0;
};

}  // namespace traffic::comm
