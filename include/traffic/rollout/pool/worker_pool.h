/// Environments in processes of their own: those of a node's ranks run on that node.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "traffic/config/config.h"
#include "traffic/rollout/pool/env_pool.h"

namespace traffic::comm {
class MpiSession;
}

namespace traffic::rollout {

/// The programs of a pool.
struct Programs {
  std::filesystem::path rollout_worker;
  std::filesystem::path environment;  ///< run_environment_process() is its main
};
/// A program in the folder of the running one.
std::filesystem::path program_beside_this_one(const std::string& name);

/// What a pool is to run.
struct WorkerPoolSpec {
  config::Rollout rollout;  ///< how many, and how long they may take
  Programs programs;
  std::string settings;  ///< every environment process gets it, unread
  std::size_t max_order_bytes = 0;
  std::size_t max_answer_bytes = 0;  ///< what is not used costs no memory
  /// After which a rollout_worker, which gives a sign of life every 50 ms, counts as stopped.
  /// Before the other ranks give up on one that waits for it.
  double worker_silence_s = 60.0;
};

/// Rank 0 starts rollout_worker processes through MPI, on every node as many as the environments of
/// its ranks need; each keeps a few processes of environments running. Orders and answers go
/// through memory that ranks and workers of a node map; nothing spins. The constructor and close()
/// are collective.
class WorkerPool final : public EnvPool {
 public:
  /// Starts the workers; environments become ready meanwhile and later.
  /// @throws WorkerError on every rank if a program is missing or cannot be started
  /// @throws ResourceError if the limits of this user leave no room
  WorkerPool(const comm::MpiSession& session, const WorkerPoolSpec& spec);
  /// Without close(), as when an error unwinds the stack: the leaders of
  /// nodes end the workers.
  ~WorkerPool() override;

  void reset(int env, std::span<const std::byte> order) override;
  void step(int env, std::span<const std::byte> order) override;
  [[nodiscard]] bool busy(int env) const override;
  /// rollout.env_timeout_s bounds every wait: what hangs is replaced.
  std::optional<Event> wait_any(std::span<const int> envs, double timeout_s) override;
  using EnvPool::wait_all;
  void wait_all(std::span<const int> envs, std::vector<Event>& events) override;
  [[nodiscard]] bool has_answer(int env) const override;
  [[nodiscard]] std::span<const std::byte> answer(int env) const override;
  void reject(int env) override;
  [[nodiscard]] PoolCounters counters() const override;
  void close() override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace traffic::rollout
