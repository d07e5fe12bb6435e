/// LeaderChannel exchanges data between nodes for MpiCommunicator. Only the leader of each node,
/// its lowest rank, takes part. The channel uses MPI messages and polls them with a back-off, so
/// that it can detect a missing leader.
///
/// all_reduce() cuts an array into pieces, and each piece into as many ranges as there are leaders.
/// Every leader receives the other nodes' data for its range, sums them in the order of sum_plan.h
/// and sends the sum to the other leaders. A few pieces are in flight at a time, so that the link
/// is busy while a leader adds.
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
  /// Collective over the leaders.
  /// @param comm communicator of the leaders; its rank n is leaders[n], the leader of node n
  /// @param plan which parts all_reduce() sums, and in which order; a part is the sum over some
  ///   ranks of one node
  /// @param node channel of the leader's own node, checked for failures while waiting; must outlive
  ///   this object
  LeaderChannel(MpiComm comm, std::vector<int> leaders, int node_index, SumPlan plan,
                const NodeChannel& node);
  ~LeaderChannel();
  LeaderChannel(const LeaderChannel&) = delete;
  LeaderChannel& operator=(const LeaderChannel&) = delete;

  // All functions throw a CommError that names the leader that is missing, is in another operation,
  // or has reported a failure.

  /// Waits for the other leaders and checks that all are about to perform the same operation. Call
  /// it before the data of an operation are exchanged.
  void agree(const OpHeader& header, const Deadline& deadline);
  /// @param parts sums of this node's parts of the plan, in the order of the plan; overwritten
  /// @param result receives the sum over all nodes; may be the same memory as parts[0]
  void all_reduce(std::span<std::byte* const> parts, std::byte* result, std::int64_t bytes,
                  const OpHeader& header, const Deadline& deadline);
  /// Broadcasts in place.
  void broadcast(std::byte* data, std::size_t bytes, int root_node, const OpHeader& header,
                 const Deadline& deadline);
  /// Concatenates the bytes of all leaders in the order of nodes.
  /// @param bytes_of_node [nodes] number of bytes that each leader contributes
  std::vector<std::byte> all_gather(const std::byte* mine,
                                    std::span<const std::size_t> bytes_of_node,
                                    const OpHeader& header, const Deadline& deadline);

  /// Makes the other leaders stop waiting and fail with this text, and abandons the connection.
  void fail(const std::string& message) noexcept;

  /// Seconds spent waiting for other leaders and their data. Any thread may call it.
  [[nodiscard]] double waited_s() const { return waited_s_.load(std::memory_order_relaxed); }

 private:
  using Text = std::array<char, 1024>;
  using HostName = std::array<char, 64>;
  /// A message that is being sent or received.
  struct Transfer {
    MPI_Request request;
    int peer;  ///< node of the other leader
    bool is_receive;
  };

  /// One piece of a reduction in progress.
  struct Piece {
    enum class State { kIdle, kScatters, kGathers };
    State state = State::kIdle;
    std::int64_t begin = 0;  ///< offset in the array, in bytes
    std::int64_t bytes = 0;  ///< size of the piece
    std::vector<Transfer> transfers = {};
    std::vector<std::byte> inbox = {};  ///< the other nodes' parts of this leader's range
  };
  /// Arguments of all_reduce().
  struct Reducing {
    std::span<std::byte* const> parts;
    std::byte* result;
    const OpHeader& header;
    std::int64_t element;  ///< bytes of one element
  };
  static constexpr std::size_t kPiecesAtOnce = 4;
  /// Longest sleep between two polls. It is shorter than the default of Backoff, a millisecond: in
  /// that time the socket's buffers would run empty.
  static constexpr int kLongestSleepUs = 50;

  void receive(std::byte* data, std::size_t bytes, int peer);
  void send(const std::byte* data, std::size_t bytes, int peer);
  void finish(const OpHeader& header, const Deadline& deadline);
  void throw_if_failed();
  /// Removes the finished transfers. @return whether all are finished
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
  std::vector<std::vector<std::size_t>> parts_of_node_;  ///< [nodes] indices into the plan's parts
  const NodeChannel& node_;
  std::array<Piece, kPiecesAtOnce> pieces_;
  std::vector<Transfer> transfers_;
  std::vector<std::byte> inbox_;   ///< buffer of all_gather(); a member, because MPI may still
                                   ///< write to it after a failed operation
  std::vector<OpHeader> headers_;  ///< [nodes] which operation each leader is about to perform
  std::vector<HostName> hosts_;    ///< [nodes] name of each leader's machine
  OpHeader own_header_;
  Text reported_{};                          ///< failure that another leader has reported
  Text report_{};                            ///< failure that this leader reports
  MPI_Request listener_ = MPI_REQUEST_NULL;  ///< waits for a failure report of another leader
  bool failed_ = false;
  std::atomic<double> waited_s_ = 0.0;
};

}  // namespace traffic::comm
