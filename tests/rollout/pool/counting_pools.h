/// Makes all kinds of pools with counting environments.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "mpi_main.h"
#include "rollout/pool/counting_environment.h"
#include "traffic/rollout/pool/local_pool.h"
#include "traffic/rollout/pool/worker_pool.h"

namespace traffic::rollout::testing {

inline constexpr int kEnvs = 6;
inline constexpr int kMaxRestarts = 2;

/// The ranks that share a pool.
struct Ranks {
  int rank = 0;
  int size = 1;
  static Ranks of_this_job() {
    const auto& session = ::traffic::testing::mpi_session();
    return {.rank = session.rank(), .size = session.size()};
  }
};

inline WorkerPoolSpec worker_pool_spec() {
  config::Rollout rollout;
  rollout.workers = 2;
  rollout.envs_per_worker = kEnvs / 2;
  rollout.max_restarts = kMaxRestarts;
  return {.rollout = rollout,
          .programs = {.rollout_worker = program_beside_this_one("rollout_worker"),
                       .environment = program_beside_this_one("rollout_counting_env")},
          .settings = "",
          .max_order_bytes = sizeof(CountOrder),
          .max_answer_bytes = sizeof(CountAnswer)};
}

struct InProcesses {
  static Ranks ranks() { return Ranks::of_this_job(); }
  static std::unique_ptr<EnvPool> make() {
    return std::make_unique<WorkerPool>(::traffic::testing::mpi_session(), worker_pool_spec());
  }
};

/// Each rank has a pool of its own, which it starts without MPI.
struct InProcessesOfTheRank {
  static Ranks ranks() { return {}; }
  static std::unique_ptr<EnvPool> make() {
    return std::make_unique<WorkerPool>(worker_pool_spec());
  }
};

struct InTheRank {
  static Ranks ranks() { return Ranks::of_this_job(); }
  static std::unique_ptr<EnvPool> make() {
    const auto& session = ::traffic::testing::mpi_session();
    return std::make_unique<LocalPool>(LocalPoolSpec{.rank = session.rank(),
                                                     .num_ranks = session.size(),
                                                     .num_envs = kEnvs,
                                                     .max_answer_bytes = sizeof(CountAnswer),
                                                     .max_restarts = kMaxRestarts,
                                                     .make = [](const EnvPlace& place) {
                                                       return std::make_unique<CountingEnvironment>(
                                                           place);
                                                     }});
  }
};

using Pools = ::testing::Types<InProcesses, InProcessesOfTheRank, InTheRank>;

}  // namespace traffic::rollout::testing
