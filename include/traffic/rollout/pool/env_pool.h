/// EnvPool, the interface through which a rank uses its environments: the rank sends orders, and
/// many environments work at the same time until they answer. WorkerPool and LocalPool implement
/// it.
///
///     using Bytes = std::vector<std::byte>;
///
///     void run(EnvPool& pool, const Bytes& episode, int rounds,
///              const std::function<Bytes(std::span<const std::byte> answer)>& decide) {
///       for (const int env : pool.my_envs()) pool.reset(env, episode);
///       for (int round = 0; round < rounds; ++round) {
///         for (const std::vector<int>& group : pool.groups()) {
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
/// Orders and answers are bytes (environment.h). If an environment fails, its episode is lost and
/// the pool replaces the environment. Environment e belongs to rank e modulo the number of ranks.
/// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace traffic::rollout {

/// What an environment has done since the last order: it has answered, or it has failed.
struct Event {
  int env = -1;
  bool lost = false;     ///< true: the episode is lost; false: answer(env) is valid
  bool done = false;     ///< the episode has ended with this answer; false if it is lost
  std::string why = {};  ///< how the environment failed, as a sentence; empty if it has answered
};

/// Counts since the pool was created. WorkerPool counts the environments of all ranks of the node,
/// LocalPool those of this rank.
struct PoolCounters {
  std::uint64_t steps = 0;          ///< simulation steps
  std::uint64_t episodes = 0;       ///< episodes that reached their end
  std::uint64_t lost_episodes = 0;  ///< episodes that ended by the failure of their environment
  std::uint64_t restarts = 0;       ///< environments that were replaced
  std::uint64_t timeouts = 0;       ///< environments replaced because they hung
  std::uint64_t rejected = 0;       ///< environments replaced because of an invalid answer
};

/// The part of a pool's interface that the collector (collector.h) uses.
class EventSource {
 public:
  EventSource() = default;
  virtual ~EventSource() = default;
  EventSource(const EventSource&) = delete;
  EventSource& operator=(const EventSource&) = delete;

  /// The environments of this rank.
  [[nodiscard]] virtual std::span<const int> my_envs() const = 0;
  /// my_envs() divided into groups that are not empty. There are two groups if the environments run
  /// in other processes: one group simulates while the rank decides for the other. There is one
  /// group if they run in the rank.
  [[nodiscard]] virtual std::span<const std::vector<int>> groups() const = 0;
  /// Whether the environment has an order whose event wait_all() or wait_any() has not returned
  /// yet.
  [[nodiscard]] virtual bool busy(int env) const = 0;
  /// Waits until all busy environments in `envs` have answered or have failed. The events are in
  /// the order of `envs`.
  /// @param events overwritten; nothing is allocated once it is large enough
  /// @throws WorkerError if an environment fails again and again, with its last message, or if the
  /// worker process that runs it is gone
  virtual void wait_all(std::span<const int> envs, std::vector<Event>& events) = 0;
  [[nodiscard]] std::vector<Event> wait_all(std::span<const int> envs);
};

class EnvPool : public EventSource {
 public:
  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();

  [[nodiscard]] int num_envs() const { return num_envs_; }
  [[nodiscard]] std::span<const int> my_envs() const final { return my_envs_; }
  [[nodiscard]] std::span<const std::vector<int>> groups() const final { return groups_; }

  /// Sends the order to begin an episode; its first observation is the answer. The environment must
  /// not be busy. Copies the order.
  virtual void reset(int env, std::span<const std::byte> order) = 0;
  /// Sends the order for the next step. The last answer must not have ended the episode. Copies the
  /// order.
  virtual void step(int env, std::span<const std::byte> order) = 0;
  /// Waits until the first of these environments has answered or failed. At least one of them must
  /// be busy.
  /// @return its event; empty if there was none within timeout_s
  /// @throws as wait_all
  virtual std::optional<Event> wait_any(std::span<const int> envs, double timeout_s = kNoLimit) = 0;
  /// Whether answer() is valid.
  [[nodiscard]] virtual bool has_answer(int env) const = 0;
  /// The last answer, without a copy; valid until the next order to this environment.
  [[nodiscard]] virtual std::span<const std::byte> answer(int env) const = 0;
  /// Rejects an invalid answer: the episode is lost and the environment is replaced.
  /// @throws as wait_all
  virtual void reject(int env) = 0;

  [[nodiscard]] virtual PoolCounters counters() const = 0;
  /// Ends the environments. Collective if the constructor of the pool is collective.
  virtual void close() = 0;

 protected:
  EnvPool(int rank, int num_ranks, int num_envs, int num_groups);
  /// Index of an environment in my_envs().
  [[nodiscard]] std::size_t index_of(int env) const;

 private:
  int rank_;
  int num_ranks_;
  int num_envs_;
  std::vector<int> my_envs_;
  std::vector<std::vector<int>> groups_;
};

}  // namespace traffic::rollout
