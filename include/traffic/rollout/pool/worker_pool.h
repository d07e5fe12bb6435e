/// A pool whose environments run in separate processes, on the node of the rank that they belong
/// to.
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
/// Path of a program in the folder of the running program.
std::filesystem::path program_beside_this_one(const std::string& name);

/// Programs, sizes and limits of a pool.
struct WorkerPoolSpec {
  config::Rollout rollout;  ///< number of environments and their time limits
  Programs programs;
  std::string settings;  ///< text for every environment process; the pool does not read it
  std::size_t max_order_bytes = 0;
  std::size_t max_answer_bytes = 0;  ///< memory for bytes that are never written is not allocated
  /// A rollout_worker that gives no sign of life for this time counts as stopped; a running one
  /// gives a sign every 50 ms. The time must be shorter than the time for which other ranks wait
  /// for a rank that waits here.
  double worker_silence_s = 60.0;
};

/// Rank 0 starts rollout_worker processes through MPI, on every node as many as the environments of
/// its ranks need. The workers live as long as the job: a pool uses the workers of earlier pools
/// that have ended, and rank 0 starts only those that are missing. Each worker keeps the processes
/// of a few environments running. Orders and answers pass through memory that the ranks and workers
/// of a node share; waiting does not spin. The constructor and close() are collective.
class WorkerPool final : public EnvPool {
 public:
  /// Starts the workers that are missing, and waits for the first signs of life of all.
  /// Environments may become ready later.
  /// @throws WorkerError on every rank if a program is missing, cannot be started, or does not give
  /// a sign of life in time; the time grows with the load of the machine
  /// @throws ResourceError if the user's limits on open files or processes are too low
  WorkerPool(const comm::MpiSession& session, const WorkerPoolSpec& spec);
  /// Ends the environments of this node if close() was not called, for example after an error.
  ~WorkerPool() override;

  void reset(int env, std::span<const std::byte> order) override;
  void step(int env, std::span<const std::byte> order) override;
  [[nodiscard]] bool busy(int env) const override;
  /// rollout.env_timeout_s limits every wait: an environment that hangs is replaced.
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
