/// How the ranks of one node meet in shared memory: rounds of "write, arrive, read".
///
/// Each rank has a stage of two halves. In a round every rank may write to its half, then calls
/// exchange(), and may read all halves until its next exchange(). The halves alternate, so one
/// round costs one meeting: who writes for round k + 2 knows that all have arrived at round k + 1,
/// hence have read round k.
///
/// Waiting spins for some microseconds, offers the core to others for some more and then sleeps on
/// a futex. Who waits sees: that a rank is in another operation, has left, is dead, reported a
/// failure of its own, or is late.
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

/// Another rank said why it stopped; the message is its own.
class PeerFailure : public CommError {
 public:
  using CommError::CommError;
};

class NodeChannel {
 public:
  static constexpr std::size_t kStageBytes = std::size_t{512} * 1024;
  static constexpr std::size_t kPageBytes = 4096;
  /// Of the segment that all ranks of the node map.
  static std::size_t segment_bytes(int local_size);

  /// @param ranks the node's ranks, ascending; the caller is ranks[local_rank]
  NodeChannel(NodeMemory segment, std::vector<int> ranks, int local_rank);
  /// Tells the others that this rank comes no more, unless an exception ends it: then its own
  /// message shall be the first that is read.
  ~NodeChannel();
  NodeChannel(const NodeChannel&) = delete;
  NodeChannel& operator=(const NodeChannel&) = delete;

  [[nodiscard]] int size() const { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] int local_rank() const { return local_rank_; }

  /// This rank's half for the next exchange.
  [[nodiscard]] std::byte* stage() const { return half(local_rank_, round_ + 1); }
  /// A rank's half, and the header it came with, of the last exchange.
  [[nodiscard]] const std::byte* staged(int local_rank) const { return half(local_rank, round_); }
  [[nodiscard]] const OpHeader& header_of(int local_rank) const;

  /// Arrives and waits for all.
  /// @throws CommError naming the operation and the ranks that are missing or elsewhere
  void exchange(const OpHeader& header, const Deadline& deadline);

  /// Lets the others stop waiting, with this text; the first text stands.
  void fail(const std::string& message) noexcept;
  /// @throws PeerFailure if a rank of the node has called fail()
  void throw_if_failed() const;

  /// Seconds spent waiting for others; for any thread.
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
  std::uint32_t round_ = 0;
  std::atomic<double> waited_s_ = 0.0;
  int num_spins_;
  int exceptions_before_;
  std::int64_t oom_kills_before_;
};

}  // namespace traffic::comm
