/// Environments as a rank sees them: it orders, they answer, many at once.
///
///     using Bytes = std::vector<std::byte>;
///
///     void run(EnvPool& pool, const Bytes& episode, int rounds,
///              const std::function<Bytes(std::span<const std::byte> answer)>& decide) {
///       for (const int env : pool.my_envs()) pool.reset(env, episode);
///       for (int round = 0; round < rounds; ++round) {
///         for (const std::vector<int>& group : pool.groups()) {  // one simulates, one decides
///           for (const Event& event : pool.wait_all(group)) {
///             if (event.lost || event.done) {
///               pool.reset(event.env, episode);
///             } else {
///               pool.step(event.env, decide(pool.answer(event.env)));
///             }
///           }
///         }
///       }
///       pool.close();
///     }
///
/// Orders and answers are bytes (environment.h). An environment that fails costs its episode and is
/// replaced. Environment e belongs to rank e modulo the number of ranks. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace traffic::rollout {

/// An environment has answered.
struct Event {
  int env = -1;
  bool lost = false;     ///< its episode is; otherwise answer(env) is there
  bool done = false;     ///< not lost: its episode has ended with this answer
  std::string why = {};  ///< lost: how the environment ended, in a sentence
};

/// Since the pool began, of the environments that it sees: WorkerPool those of all
/// ranks of the node, LocalPool this rank's.
struct PoolCounters {
  std::uint64_t steps = 0;          ///< simulation steps
  std::uint64_t episodes = 0;       ///< brought to their end
  std::uint64_t lost_episodes = 0;  ///< ended by the failure of their environment
  std::uint64_t restarts = 0;       ///< environments made again
  std::uint64_t timeouts = 0;       ///< of those: killed because they hung
  std::uint64_t rejected = 0;       ///< of those: replaced because they answered rubbish
};

/// What a collector needs of a pool.
class EventSource {
 public:
  EventSource() = default;
  virtual ~EventSource() = default;
  EventSource(const EventSource&) = delete;
  EventSource& operator=(const EventSource&) = delete;

  /// The environments of this rank.
  [[nodiscard]] virtual std::span<const int> my_envs() const = 0;
  /// my_envs() in parts, none of them empty: two where environments run beside the rank, one where
  /// they run in it.
  [[nodiscard]] virtual std::span<const std::vector<int>> groups() const = 0;
  /// Ordered and not yet told of.
  [[nodiscard]] virtual bool busy(int env) const = 0;
  /// The answers of all of these that are busy, in their order.
  /// @param events overwritten; nothing is allocated once it is large enough
  /// @throws WorkerError when an environment cannot be kept running, with its own last message, or
  /// what runs it is gone
  virtual void wait_all(std::span<const int> envs, std::vector<Event>& events) = 0;
  [[nodiscard]] std::vector<Event> wait_all(std::span<const int> envs);
};

class EnvPool : public EventSource {
 public:
  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();

  [[nodiscard]] int num_envs() const { return num_envs_; }
  [[nodiscard]] std::span<const int> my_envs() const final { return my_envs_; }
  [[nodiscard]] std::span<const std::vector<int>> groups() const final { return groups_; }

  /// Begins an episode; the answer is its first observation. Any state but busy. Takes a copy.
  virtual void reset(int env, std::span<const std::byte> order) = 0;
  /// The next order. After an answer that was not the end. Takes a copy.
  virtual void step(int env, std::span<const std::byte> order) = 0;
  /// The first of these environments whose answer has come, busy ones at call; nothing when the
  /// time is up.
  /// @throws as wait_all
  virtual std::optional<Event> wait_any(std::span<const int> envs, double timeout_s = kNoLimit) = 0;
  /// Whether there is an answer.
  [[nodiscard]] virtual bool has_answer(int env) const = 0;
  /// The last answer, where it was written; until the next order to this environment.
  [[nodiscard]] virtual std::span<const std::byte> answer(int env) const = 0;
  /// The answer is rubbish: the episode is lost, the environment is replaced.
  /// @throws as wait_all
  virtual void reject(int env) = 0;

  [[nodiscard]] virtual PoolCounters counters() const = 0;
  /// Ends the environments. Collective where the pool is.
  virtual void close() = 0;

 protected:
  EnvPool(int rank, int num_ranks, int num_envs, int num_groups);
  /// Place of an environment among this rank's.
  [[nodiscard]] std::size_t index_of(int env) const;

 private:
  int rank_;
  int num_ranks_;
  int num_envs_;
  std::vector<int> my_envs_;
  std::vector<std::vector<int>> groups_;
};

}  // namespace traffic::rollout
