// LeaderChannel::all_reduce() and its helpers: how the leaders of nodes sum data. leader_channel.h
// describes the method.
#include <algorithm>
#include <utility>

#include "leader_channel.h"
#include "reduce_kernels.h"

namespace traffic::comm {
namespace {

constexpr int kPieceTag = 7110;  ///< first MPI tag; each piece in flight uses two tags
/// Size of the range that each leader sums in a piece. It is large enough to use the network well,
/// and small enough that transfers overlap with additions.
constexpr std::int64_t kRangeBytes = std::int64_t{1} << 20;
constexpr std::int64_t kLargestPieceBytes = std::int64_t{1} << 24;  ///< limits the buffers' memory

/// Offsets in a piece, in bytes.
struct Range {
  std::int64_t begin;
  std::int64_t end;
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};

/// The range of a piece that a leader sums. @param element bytes of one element
Range range_of(std::int64_t bytes, std::int64_t element, std::size_t leader, std::size_t leaders) {
  const auto cut = [&](std::size_t i) {
    return bytes / element * static_cast<std::int64_t>(i) / static_cast<std::int64_t>(leaders) *
           element;
  };
  return {cut(leader), cut(leader + 1)};
}

}  // namespace

void LeaderChannel::all_reduce(std::span<std::byte* const> parts, std::byte* result,
                               std::int64_t bytes, const OpHeader& header,
                               const Deadline& deadline) {
  const Stopwatch clock;
  const auto leaders = static_cast<std::int64_t>(leaders_.size());
  const Reducing what{parts, result, header,
                      static_cast<std::int64_t>(at::elementSize(header.dtype))};
  const std::int64_t piece_bytes = std::min(kRangeBytes * leaders, kLargestPieceBytes);
  std::int64_t begun = 0;
  std::size_t num_pieces = 0;
  Backoff backoff(kLongestSleepUs);
  for (bool any = true; any;) {
    bool moved = false;
    for (std::size_t slot = 0; slot < pieces_.size(); ++slot) {
      if (pieces_[slot].state != Piece::State::kIdle) moved = advance(slot, what) || moved;
    }
    // A slot is an element of pieces_. Its number identifies the messages of a piece, so a piece
    // must use the same slot on every leader.
    for (std::size_t slot = num_pieces % pieces_.size();
         begun < bytes && pieces_[slot].state == Piece::State::kIdle;
         slot = ++num_pieces % pieces_.size()) {
      pieces_[slot].begin = begun;
      pieces_[slot].bytes = std::min(piece_bytes, bytes - begun);
      begun += pieces_[slot].bytes;
      scatter(pieces_[slot], slot, what);
      moved = true;
    }
    any = std::ranges::any_of(
        pieces_, [](const Piece& piece) { return piece.state != Piece::State::kIdle; });
    if (moved) {
      backoff = Backoff(kLongestSleepUs);
    } else if (any) {
      check_health(header, deadline);
      backoff.pause();
    }
  }
  waited_s_.fetch_add(clock.seconds(), std::memory_order_relaxed);
}

/// Continues a piece if its transfers have finished. @return whether they have
bool LeaderChannel::advance(std::size_t slot, const Reducing& what) {
  Piece& piece = pieces_[slot];
  if (!test(piece.transfers)) return false;
  if (piece.state == Piece::State::kScatters) {
    sum_range(piece, what);
    gather(piece, slot, what);
  } else {
    piece.state = Piece::State::kIdle;
  }
  return true;
}

/// Sends this node's parts of every other leader's range to that leader, and receives the other
/// nodes' parts of this leader's range.
void LeaderChannel::scatter(Piece& piece, std::size_t slot, const Reducing& what) {
  piece.state = Piece::State::kScatters;
  const int tag = kPieceTag + 2 * static_cast<int>(slot);
  const std::size_t n = leaders_.size();
  const auto self = static_cast<std::size_t>(node_index_);
  const Range own = range_of(piece.bytes, what.element, self, n);
  piece.inbox.resize(own.size() * plan_.parts.size());
  for (std::size_t step = 1; step < n;
       ++step) {  // in each step no two leaders send to the same leader
    const std::size_t from = (self + n - step) % n;
    const std::size_t to = (self + step) % n;
    for (const std::size_t part : parts_of_node_[from]) {
      start_receive(piece.transfers, {piece.inbox.data() + part * own.size(), own.size()},
                    static_cast<int>(from), tag);
    }
    const Range theirs = range_of(piece.bytes, what.element, to, n);
    for (const std::byte* part : what.parts) {
      start_send(piece.transfers, {part + piece.begin + theirs.begin, theirs.size()},
                 static_cast<int>(to), tag);
    }
  }
}

void LeaderChannel::sum_range(Piece& piece, const Reducing& what) {
  const auto self = static_cast<std::size_t>(node_index_);
  const Range own = range_of(piece.bytes, what.element, self, leaders_.size());
  std::vector<const std::byte*> sources;
  std::size_t mine = 0;
  for (std::size_t part = 0; part < plan_.parts.size(); ++part) {
    const bool is_mine = plan_.parts[part].node == node_index_;
    sources.push_back(is_mine ? what.parts[mine++] + piece.begin + own.begin
                              : piece.inbox.data() + part * own.size());
  }
  std::byte* result = what.result + piece.begin + own.begin;
  reduce({sources, plan_.merges, std::span(&result, 1),
          static_cast<std::int64_t>(own.size()) / what.element},
         what.header.dtype, what.header.reduce);
}

void LeaderChannel::gather(Piece& piece, std::size_t slot, const Reducing& what) {
  piece.state = Piece::State::kGathers;
  const int tag = kPieceTag + 2 * static_cast<int>(slot) + 1;
  const std::size_t n = leaders_.size();
  const auto self = static_cast<std::size_t>(node_index_);
  std::byte* const result = what.result + piece.begin;
  const Range own = range_of(piece.bytes, what.element, self, n);
  for (std::size_t step = 1; step < n; ++step) {
    const std::size_t from = (self + n - step) % n;
    const std::size_t to = (self + step) % n;
    const Range theirs = range_of(piece.bytes, what.element, from, n);
    start_receive(piece.transfers, {result + theirs.begin, theirs.size()}, static_cast<int>(from),
                  tag);
    start_send(piece.transfers, {result + own.begin, own.size()}, static_cast<int>(to), tag);
  }
}

}  // namespace traffic::comm
