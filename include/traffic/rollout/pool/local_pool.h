/// LocalPool, a pool whose environments run in the rank's own process. It suits cheap environments,
/// such as thousands of games with steps of a few microseconds.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "traffic/rollout/pool/env_pool.h"
#include "traffic/rollout/pool/environment.h"

namespace traffic::rollout {

using EnvFactory = std::function<std::unique_ptr<Environment>(const EnvPlace&)>;

struct LocalPoolSpec {
  int rank = 0;
  int num_ranks = 1;
  int num_envs = 1;  ///< environments of all ranks
  std::size_t max_answer_bytes = 0;
  std::uint32_t max_restarts = 5;  ///< maximum number of replacements of an environment between two
                                   ///< episodes that it finishes
  EnvFactory make;
};

/// reset() and step() run the environment before they return, so the waiting functions return at
/// once. Neither allocates memory. If the factory throws while it replaces an environment, the
/// caller gets the exception. No member function is collective.
class LocalPool final : public EnvPool {
 public:
  /// Creates the environments of this rank.
  /// @throws any exception of the factory
  explicit LocalPool(LocalPoolSpec spec);
  ~LocalPool() override;

  void reset(int env, std::span<const std::byte> order) override;
  void step(int env, std::span<const std::byte> order) override;
  [[nodiscard]] bool busy(int env) const override;
  std::optional<Event> wait_any(std::span<const int> envs, double timeout_s) override;
  using EnvPool::wait_all;
  void wait_all(std::span<const int> envs, std::vector<Event>& events) override;
  [[nodiscard]] bool has_answer(int env) const override;
  [[nodiscard]] std::span<const std::byte> answer(int env) const override;
  void reject(int env) override;
  [[nodiscard]] PoolCounters counters() const override { return counters_; }
  void close() override;

 private:
  struct alignas(64) Line {
    std::array<std::byte, 64> bytes;
  };
  struct Local;
  using Order = Environment::Answer (Environment::*)(std::span<const std::byte>,
                                                     std::span<std::byte>, EnvHost&);
  void carry_out(int env, Order order, std::span<const std::byte> bytes);
  void lose(int env, const std::string& why);
  void replace(int env);
  void require_kept_running(const Local& local) const;
  std::optional<Event> look(int env);
  [[nodiscard]] std::span<std::byte> room(int env) const;

  LocalPoolSpec spec_;
  std::size_t lines_each_ = 0;
  std::vector<Line> rooms_;  ///< memory of the answers, in the order of my_envs()
  std::vector<std::unique_ptr<Local>> locals_;  ///< in the order of my_envs()
  PoolCounters counters_;
};

}  // namespace traffic::rollout
