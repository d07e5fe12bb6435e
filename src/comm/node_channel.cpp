// NodeChannel: rounds in which the ranks of a node wait for each other, and the checks of a waiting
// rank (node_channel.h).
#include "node_channel.h"

#include <fmt/ranges.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <utility>

#include "traffic/core/process.h"
#include "traffic/os/futex.h"
#include "traffic/os/process_id.h"

namespace traffic::comm {
namespace {

constexpr int kSpins = 500;         ///< polls before a waiting rank yields its core; about 10 us
constexpr double kYieldS = 100e-6;  ///< seconds of polling with yields, before the rank sleeps
constexpr double kSleepS = 0.05;  ///< interval between two checks whether the other ranks are alive

}  // namespace

// Slot (one for each rank) and Board lie in shared memory. They have no constructor: the memory is
// created with zeros, which is a valid initial state.
struct alignas(128) NodeChannel::Slot {
  std::atomic<std::uint32_t> round;     ///< round of the last arrival
  std::atomic<std::uint32_t> sleepers;  ///< number of ranks that sleep until `round` changes
  std::atomic<std::uint32_t> left;      ///< 1 once the rank has closed its channel
  os::SharedProcess process;
  OpHeader headers[2];  ///< headers of the last two rounds; the header of round r has index r mod 2
};

struct alignas(128) NodeChannel::Board {
  std::atomic<std::uint32_t> failure;  ///< 0 none, 1 message being written, 2 message complete
  char message[1024];
};

std::size_t NodeChannel::segment_bytes(int local_size) {
  const auto n = static_cast<std::size_t>(local_size);
  const std::size_t control = sizeof(Board) + n * sizeof(Slot);
  return (control + kPageBytes - 1) / kPageBytes * kPageBytes + n * 2 * kStageBytes;
}

NodeChannel::NodeChannel(NodeMemory segment, std::vector<int> ranks, int local_rank)
    : segment_(std::move(segment)),
      ranks_(std::move(ranks)),
      local_rank_(local_rank),
      // With more ranks than cores, a spinning rank would take the core from the rank it waits for.
      num_spins_(static_cast<long>(ranks_.size()) <= sysconf(_SC_NPROCESSORS_ONLN) ? kSpins : 0),
      exceptions_before_(std::uncaught_exceptions()),
      oom_kills_before_(num_oom_kills()) {
  TRAFFIC_CHECK(segment_.size() >= segment_bytes(size()),
                "the shared segment has {} bytes, expected at least {}", segment_.size(),
                segment_bytes(size()));
  os::enter_self(slot(local_rank_).process);
}

NodeChannel::~NodeChannel() {
  if (std::uncaught_exceptions() <= exceptions_before_) slot(local_rank_).left = 1;
}

NodeChannel::Board& NodeChannel::board() const {
  return *reinterpret_cast<Board*>(segment_.data());
}

NodeChannel::Slot& NodeChannel::slot(int local_rank) const {
  return reinterpret_cast<Slot*>(segment_.data() + sizeof(Board))[local_rank];
}

std::byte* NodeChannel::half(int local_rank, std::uint32_t round) const {
  const std::size_t stages = segment_bytes(size()) - ranks_.size() * 2 * kStageBytes;
  const std::size_t index = 2 * static_cast<std::size_t>(local_rank) + (round & 1U);
  return segment_.data() + stages + index * kStageBytes;
}

const OpHeader& NodeChannel::header_of(int local_rank) const {
  return slot(local_rank).headers[round_ & 1U];
}

void NodeChannel::exchange(const OpHeader& header, const Deadline& deadline) {
  throw_if_failed();  // other ranks may have failed after their last arrival
  arrive(header);
  for (int peer = 0; peer < size(); ++peer) {
    if (peer == local_rank_) continue;
    wait_for(peer, header, deadline);
    if (!same_call(header, header_of(peer))) {
      throw CommError(describe_mismatch(ranks_[static_cast<std::size_t>(local_rank_)], header,
                                        ranks_[static_cast<std::size_t>(peer)], header_of(peer)));
    }
  }
}

void NodeChannel::arrive(const OpHeader& header) {
  ++round_;
  Slot& mine = slot(local_rank_);
  mine.headers[round_ & 1U] = header;
  // The accesses here and in sleep_until_arrived() are sequentially consistent. So either this rank
  // sees that a peer sleeps, or the peer sees the new round before it sleeps.
  mine.round.store(round_);
  if (mine.sleepers.load() != 0) os::wake_all(mine.round);
}

bool NodeChannel::has_arrived(int peer) const {
  // A signed difference tolerates overflow of the counter.
  return static_cast<std::int32_t>(slot(peer).round.load() - round_) >= 0;
}

void NodeChannel::wait_for(int peer, const OpHeader& header, const Deadline& deadline) {
  for (int i = 0; i < num_spins_; ++i) {
    if (has_arrived(peer)) return;
    spin_pause();
  }
  const Stopwatch clock;
  sleep_until_arrived(peer, header, deadline);
  waited_s_.fetch_add(clock.seconds(), std::memory_order_relaxed);
}

void NodeChannel::sleep_until_arrived(int peer, const OpHeader& header,
                                      const Deadline& deadline) const {
  for (const Deadline yields(kYieldS); !yields.passed();) {
    if (has_arrived(peer)) return;
    sched_yield();
  }
  Slot& other = slot(peer);
  for (;;) {
    other.sleepers.fetch_add(1);
    const std::uint32_t seen = other.round.load();
    const bool arrived = has_arrived(peer);
    if (!arrived) os::sleep_while_equal(other.round, seen, kSleepS);
    other.sleepers.fetch_sub(1);
    if (arrived || has_arrived(peer)) return;
    check_health(peer, header, deadline);
  }
}

void NodeChannel::check_health(int peer, const OpHeader& header, const Deadline& deadline) const {
  throw_if_failed();
  const Slot& other = slot(peer);
  const int rank = ranks_[static_cast<std::size_t>(peer)];
  const std::int32_t pid = other.process.pid.load();
  // The peer may arrive and then leave or die. So check its arrival again before reporting that it
  // did not come.
  if (other.left.load() != 0 && !has_arrived(peer)) {
    throw CommError("{}: rank {} (pid {}) has closed its communicator and will not take part",
                    describe(header), rank, pid);
  }
  if (!os::is_running_or_unknown(other.process) && !has_arrived(peer)) {
    throw CommError("{}: rank {} (pid {}) is dead{}", describe(header), rank, pid,
                    memory_hint(oom_kills_before_));
  }
  if (!deadline.passed()) return;
  std::vector<std::string> missing;
  for (int i = 0; i < size(); ++i) {
    if (i == local_rank_ || has_arrived(i)) continue;
    missing.push_back(fmt::format("{} (pid {})", ranks_[static_cast<std::size_t>(i)],
                                  slot(i).process.pid.load()));
  }
  if (missing.empty()) return;  // the missing ranks came at the last moment
  throw CommError(
      "{}: rank {} did not come within {} s (comm.timeout_s): it hangs, is stopped or took another "
      "path through the program; see its log",
      describe(header), fmt::join(missing, ", rank "), deadline.limit_s());
}

void NodeChannel::fail(const std::string& message) noexcept {
  std::uint32_t none = 0;
  if (!board().failure.compare_exchange_strong(none, 1)) return;
  const std::size_t length = std::min(message.size(), sizeof(Board::message) - 1);
  std::memcpy(board().message, message.data(), length);
  board().message[length] = '\0';
  board().failure.store(2);
}

void NodeChannel::throw_if_failed() const {
  if (board().failure.load() != 2) return;
  throw PeerFailure(std::string(board().message));
}

}  // namespace traffic::comm
