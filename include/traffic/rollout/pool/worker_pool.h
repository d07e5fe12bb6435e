/// WorkerPool, a pool whose environments run in separate processes, on the node of the rank that
/// uses them. It runs the SUMO simulations of a training.
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

/// Paths of the programs that a WorkerPool starts.
struct Programs {
  std::filesystem::path rollout_worker;
  std::filesystem::path environment;  ///< its main() calls run_environment_process() (processes.h)
};
/// Path of a program in the folder of the running program.
std::filesystem::path program_beside_this_one(const std::string& name);

/// Programs, sizes and limits of a pool.
struct WorkerPoolSpec {
  config::Rollout rollout;  ///< number of environments and their time limits
  Programs programs;
  std::string
      settings;  ///< text that every environment process gets; the pool does not interpret it
  std::size_t max_order_bytes = 0;
  std::size_t max_answer_bytes = 0;  ///< a generous value is cheap: memory is allocated when an
                                     ///< answer is written
  /// If a rollout_worker gives no sign of life for this many seconds, the pool reports it as
  /// stopped. A running worker gives one every 50 ms. The value must be shorter than the time-out
  /// of collective operations, so that the rank that waits for the worker reports the error before
  /// other ranks time out.
  double worker_silence_s = 60.0;
};

/// In a training, rank 0 starts rollout_worker processes through MPI, on every node as many as the
/// environments of its ranks need. Each worker keeps the processes of a few environments running.
/// The workers live as long as the job: a new pool reuses the workers of pools that have ended, and
/// rank 0 starts only the additional workers that it needs.
///
/// Orders and answers pass through memory that the ranks and environments of a node share. Waiting
/// processes sleep. The constructor and close() are collective.
class WorkerPool final : public EnvPool {
 public:
  /// Starts additional workers if needed, and waits until every worker of the pool has given a sign
  /// of life. Environments may become ready later.
  /// @throws WorkerError on every rank if a program is missing, cannot be started, or gives no sign
  /// of life in time; the time limit grows with the load of the machine
  /// @throws ResourceError if the user's limits on open files or processes are too low
  WorkerPool(const comm::MpiSession& session, const WorkerPoolSpec& spec);
  /// Starts the workers as child processes of this process, which uses all environments alone and
  /// needs no MPI. The kernel ends the workers when the calling thread ends.
  /// @throws as the other constructor
  explicit WorkerPool(const WorkerPoolSpec& spec);
  /// Ends the environments of this node if close() was not called, for example after an error.
  ~WorkerPool() override;

  void reset(int env, std::span<const std::byte> order) override;
  void step(int env, std::span<const std::byte> order) override;
  [[nodiscard]] bool busy(int env) const override;
  /// Every wait ends, because an environment that hangs for rollout.env_timeout_s is replaced.
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
  struct StartedPool;
  WorkerPool(StartedPool started, const WorkerPoolSpec& spec);
  static StartedPool start_alone(const WorkerPoolSpec& spec);

  std::unique_ptr<State> state_;
};

}  // namespace traffic::rollout
