/// NodeChannel lets the ranks of one node exchange data in shared memory. It works in rounds: every
/// rank writes its data, waits for the others in exchange(), and reads their data.
///
/// Each rank has a stage, a buffer of two halves that rounds use alternately. In a round a rank
/// writes to its current half, calls exchange(), and may read the same halves of all ranks until
/// its next exchange(). The ranks wait for each other only once in a round: a rank that writes for
/// round k + 2 knows that all ranks have arrived at round k + 1 and hence have read round k.
///
/// A waiting rank spins for some microseconds, then yields its core for some more, and then sleeps
/// on a futex. While it waits it detects that another rank is in another operation, has left, is
/// dead, has reported a failure, or is late.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "node_memory.h"
#include "op_header.h"
#include "traffic/core/error.h"
#include "waiting.h"

namespace traffic::comm {

/// Thrown when another rank has reported a failure. The message is the text of that rank.
class PeerFailure : public CommError {
 public:
  using CommError::CommError;
};

class NodeChannel {
 public:
  /// Size of one half of a stage.
  static constexpr std::size_t kStageBytes = std::size_t{512} * 1024;
  static constexpr std::size_t kPageBytes = 4096;
  /// Size in bytes of the shared memory that all ranks of the node map.
  static std::size_t segment_bytes(int local_size);

  /// @param ranks the node's ranks, ascending; the caller is ranks[local_rank]
  NodeChannel(NodeMemory segment, std::vector<int> ranks, int local_rank);
  /// Tells the other ranks that this rank will not come any more. It does not do so while an
  /// exception unwinds the stack: the other ranks could otherwise report that this rank has left
  /// before the exception's own message is in the log.
  ~NodeChannel();
  NodeChannel(const NodeChannel&) = delete;
  NodeChannel& operator=(const NodeChannel&) = delete;

  [[nodiscard]] int size() const { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] int local_rank() const { return local_rank_; }

  /// This rank's half of the stage for the next exchange.
  [[nodiscard]] std::byte* stage() const { return half(local_rank_, round_ + 1); }
  /// Data that a rank wrote to its stage for the last exchange.
  [[nodiscard]] const std::byte* staged(int local_rank) const { return half(local_rank, round_); }
  /// The header that a rank passed to the last exchange.
  [[nodiscard]] const OpHeader& header_of(int local_rank) const;

  /// Arrives and waits for all ranks of the node.
  /// @throws CommError naming the operation and the ranks that are missing or in another operation
  void exchange(const OpHeader& header, const Deadline& deadline);

  /// Makes the other ranks stop waiting and fail with this text. If several ranks call it, the
  /// first text counts.
  void fail(const std::string& message) noexcept;
  /// @throws PeerFailure if a rank of the node has called fail()
  void throw_if_failed() const;

  /// Seconds spent waiting for other ranks. Any thread may call it.
  [[nodiscard]] double waited_s() const { return waited_s_.load(std::memory_order_relaxed); }

 private:
  struct Slot;
  struct Board;

  [[nodiscard]] Board& board() const;
  [[nodiscard]] Slot& slot(int local_rank) const;
  [[nodiscard]] std::byte* half(int local_rank, std::uint32_t round) const;
  void arrive(const OpHeader& header);
  void wait_for(int peer, const OpHeader& header, const Deadline& deadline);
  void sleep_until_arrived(int peer, const OpHeader& header, const Deadline& deadline) const;
  void check_health(int peer, const OpHeader& header, const Deadline& deadline) const;
  [[nodiscard]] bool has_arrived(int peer) const;

  NodeMemory segment_;
  std::vector<int> ranks_;
  int local_rank_;
  std::uint32_t round_ = 0;  ///< number of exchanges so far
  std::atomic<double> waited_s_ = 0.0;
  int num_spins_;                  ///< number of polls before a waiting rank yields its core
  int exceptions_before_;          ///< uncaught exceptions at construction
  std::int64_t oom_kills_before_;  ///< processes killed for lack of memory before construction
};

}  // namespace traffic::comm
