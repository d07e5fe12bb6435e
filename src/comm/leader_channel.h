/// How the leaders of nodes (the lowest rank of each) talk to each other: MPI messages, polled with
/// a back-off, so that a leader that does not come is noticed. Every result is computed in the
/// order of nodes by one leader and sent to the others.
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
#include "waiting.h"

namespace traffic::comm {

class LeaderChannel {
 public:
  /// @param comm the leaders; its rank n is leaders[n], the leader of node n
  /// @param node the leader's own node, asked for failures while waiting; must outlive this
  LeaderChannel(MpiComm comm, std::vector<int> leaders, int node_index, const NodeChannel& node);
  ~LeaderChannel();
  LeaderChannel(const LeaderChannel&) = delete;
  LeaderChannel& operator=(const LeaderChannel&) = delete;

  // All throw CommError naming the leader that is missing, is in another operation, or reported a
  // failure.

  /// Meets the other leaders and compares headers; to be called before the data of an operation.
  void agree(const OpHeader& header, const Deadline& deadline);
  /// In place over count elements of header's type.
  void all_reduce(std::byte* data, std::int64_t count, const OpHeader& header,
                  const Deadline& deadline);
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
  struct Transfer {
    MPI_Request request;
    int peer;
    bool is_receive;
  };

  void receive(std::byte* data, std::size_t bytes, int peer);
  void send(const std::byte* data, std::size_t bytes, int peer);
  void finish(const OpHeader& header, const Deadline& deadline);
  void throw_if_failed();
  void check_health(const OpHeader& header, const Deadline& deadline);
  void reduce_piece(std::byte* data, std::int64_t count, const OpHeader& header,
                    const Deadline& deadline);
  void listen();

  MpiComm comm_;
  std::vector<int> leaders_;
  int node_index_;
  const NodeChannel& node_;
  std::vector<Transfer> transfers_;
  std::vector<std::byte> inbox_;   ///< a member, so that it outlives a failed operation
  std::vector<OpHeader> headers_;  ///< [nodes]
  OpHeader own_header_;
  Text reported_{};  ///< a failure that another leader reported
  Text report_{};    ///< this leader's own
  MPI_Request listener_ = MPI_REQUEST_NULL;
  bool failed_ = false;
  std::atomic<double> waited_s_ = 0.0;
};

}  // namespace traffic::comm
