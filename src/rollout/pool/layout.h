/// Layout of the shared memory of a pool. Through it the ranks, rollout workers (processes that
/// start and watch simulations) and simulations of a node exchange commands and answers.
///
///   head    PoolHead, RankBlock[ranks], WorkerBlock[workers], settings (a text)
///   bells   Bell[ranks], which wake the ranks
///   slots   for each simulation: SlotHead, command payload, reply payload
///
/// Each part begins on a page. A simulation maps the head read-only and only its own slot, so that
/// a stray write cannot reach other simulations. Programs of different builds may have different
/// layouts; PoolHead::layout reveals this.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "traffic/os/process_id.h"

namespace traffic::rollout {

/// Text of at most Capacity - 1 characters in shared memory, followed by a zero.
template <std::size_t Capacity>
struct SharedText {
  std::array<char, Capacity> chars;

  void set(std::string_view text) {
    const std::size_t size = text.copy(chars.data(), Capacity - 1);
    chars[size] = '\0';
  }
  /// Reads at most Capacity characters, even if another process damages the text.
  [[nodiscard]] std::string get() const {
    const std::string_view all(chars.data(), Capacity);
    return std::string(all.substr(0, std::min(all.find('\0'), Capacity)));
  }
};

/// Sizes from which all offsets are computed. The first rank of a node, its leader, chooses them.
/// Ranks, workers and environments are counted within the node.
struct Geometry {
  std::uint32_t num_ranks = 1;
  std::uint32_t num_envs = 1;
  std::uint32_t world_size = 1;       ///< ranks of all nodes
  std::uint32_t envs_per_worker = 1;  ///< the last worker may have fewer environments
  std::uint32_t settings_bytes = 0;   ///< size of the text with the simulations' settings
  std::uint64_t command_bytes = 0;    ///< capacity of a command's payload
  std::uint64_t reply_bytes = 0;      ///< capacity of a reply's payload

  [[nodiscard]] std::uint32_t num_workers() const {
    return (num_envs + envs_per_worker - 1) / envs_per_worker;
  }
  [[nodiscard]] std::uint32_t rank_of_env(std::uint32_t env) const { return env % num_ranks; }
  [[nodiscard]] std::size_t head_bytes() const;
  [[nodiscard]] std::size_t bells_offset() const { return head_bytes(); }
  [[nodiscard]] std::size_t bells_bytes() const;
  [[nodiscard]] std::size_t slot_offset(std::uint32_t env) const;
  [[nodiscard]] std::size_t slot_bytes() const;
  [[nodiscard]] std::size_t total_bytes() const { return slot_offset(num_envs); }
};

/// The descriptor under which an environment's process finds the memory.
inline constexpr int kSharedFd = 3;

inline constexpr std::size_t kLine = 64;  ///< bytes of a cache line

enum class FatalState : std::uint32_t { kNone = 0, kWriting, kWritten };

/// Facts about the whole pool on this node.
struct alignas(kLine) PoolHead {
  std::uint64_t layout;  ///< layout_hash(), written last
  Geometry geometry;
  double env_timeout_s;          ///< a simulation that is silent for longer is replaced
  std::uint32_t max_restarts;    ///< maximum failures of a simulation between finished episodes
  SharedText<4096> env_program;  ///< path of the program that the workers start
  std::atomic<std::uint32_t>
      closing;  ///< 1 after the leader has closed the pool: workers then end their simulations
  std::atomic<std::uint32_t> num_claimed;  ///< number of workers that have joined this pool
  std::atomic<FatalState>
      fatal;  ///< set by the first worker that gives up a simulation; fatal_text is the reason
  SharedText<4096> fatal_text;
};

/// A rank of this node.
struct alignas(kLine) RankBlock {
  os::SharedProcess process;  ///< lets workers notice that the rank is gone
  std::uint32_t rank;         ///< number of the rank among the ranks of all nodes
};

enum class WorkerState : std::uint32_t { kNone = 0, kRunning, kStopped };

/// A rollout worker of this node.
struct alignas(kLine) WorkerBlock {
  os::SharedProcess process;
  std::atomic<WorkerState> state;
  std::atomic<std::int64_t> heartbeat_ns;  ///< time of the worker's last sign of life
};

/// A futex on which a rank sleeps. Its value grows whenever a simulation of the rank has answered.
struct alignas(kLine) Bell {
  std::atomic<std::uint32_t> rings;
};

enum class CommandKind : std::uint32_t { kReset = 1, kStep };
enum class ReplyKind : std::uint32_t {
  kAnswer = 1,
  kEnd,  ///< the last answer of an episode
  kLost  ///< the episode is lost, because its process has died
};

/// Counts of one simulation since the pool was created.
struct SlotCounters {
  std::atomic<std::uint64_t> restarts;  ///< processes after the first; written by the worker
  std::atomic<std::uint64_t> timeouts;  ///< silent processes killed; written by the worker
  std::atomic<std::uint64_t> lost;      ///< lost episodes; written by the rank
  std::atomic<std::uint64_t> rejected;  ///< invalid answers; written by the rank
  std::atomic<std::uint64_t> steps;     ///< steps begun; written by the simulation
  std::atomic<std::uint64_t> episodes;  ///< finished episodes; written by the simulation
};

/// The head of a slot, the part of the memory that belongs to one simulation. A slot holds one
/// command at a time: the rank writes the payload and increases command_seq, then the simulation
/// writes the reply and sets reply_seq to the same number. If the simulation dies, its worker
/// answers in its place.
///
/// An incarnation is one of the processes that have run this simulation. Incarnations are counted
/// from 1. All times are those of a clock that all processes of the node share.
struct SlotHead {
  // Written by the rank.
  alignas(kLine) std::atomic<std::uint32_t> command_seq;  ///< futex: the simulation sleeps on it
  CommandKind command_kind;
  std::uint32_t command_incarnation;  ///< for kStep: the incarnation that ran the reset
  std::uint64_t command_size;
  std::atomic<std::int64_t> command_ns;  ///< time at which the rank wrote the command
  std::atomic<std::uint32_t>
      rejected_incarnation;  ///< incarnation that wrote an invalid answer and must be replaced
  // Written by the simulation, or by its worker once the simulation is dead.
  alignas(kLine) std::atomic<std::uint32_t> reply_seq;
  ReplyKind reply_kind;
  std::uint32_t reply_incarnation;
  std::uint64_t reply_size;
  std::atomic<std::int64_t> progress_ns;  ///< time of the last sign of life
  std::atomic<std::int32_t> pid;  ///< process id of the simulation; 0 once the worker finds it dead
  std::atomic<std::uint32_t> ready_incarnation;  ///< last incarnation that has reported its start
  SharedText<2048> error;                        ///< error with which the simulation ends
  // Written by the worker.
  alignas(kLine) std::atomic<std::uint32_t> incarnation;  ///< the latest incarnation
  SharedText<2048> death;  ///< why the incarnation that died last has ended
  alignas(kLine) SlotCounters counters;
};

/// Converts an environment's index within the node to its index among the environments of all
/// nodes, which messages and seeds use.
std::uint32_t number_of_env(std::span<std::byte> head, std::uint32_t env);

/// Hash of the layout; it differs between builds with different layouts.
std::uint64_t layout_hash();

/// The slot of one simulation. The spans stay valid as long as the mapping.
struct SlotView {
  SlotHead* head = nullptr;
  std::span<std::byte> command;
  std::span<std::byte> reply;
};

PoolHead& head_of(std::span<std::byte> head);
/// @param found the layout_hash() in shared memory
/// @throws WorkerError if another build has made the memory
void check_layout(std::uint64_t found);
/// @throws WorkerError if the head is too short or was written by another build
void check_head(std::span<const std::byte> head);
RankBlock& rank_block(std::span<std::byte> head, std::uint32_t rank);
WorkerBlock& worker_block(std::span<std::byte> head, std::uint32_t worker);
std::span<char> settings_of(std::span<std::byte> head);
Bell& bell_of(std::span<std::byte> bells, std::uint32_t rank);
SlotView slot_view(std::span<std::byte> slot, const Geometry& geometry);

}  // namespace traffic::rollout
