/// Makes both kinds of pools with counting environments.
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

struct InProcesses {
  static std::unique_ptr<EnvPool> make() {
    config::Rollout rollout;
    rollout.workers = 2;
    rollout.envs_per_worker = kEnvs / 2;
    rollout.max_restarts = kMaxRestarts;
    return std::make_unique<WorkerPool>(
        ::traffic::testing::mpi_session(),
        WorkerPoolSpec{.rollout = rollout,
                       .programs = {.rollout_worker = program_beside_this_one("rollout_worker"),
                                    .environment = program_beside_this_one("rollout_counting_env")},
                       .settings = "",
                       .max_order_bytes = sizeof(CountOrder),
                       .max_answer_bytes = sizeof(CountAnswer)});
  }
};

struct InTheRank {
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

using Pools = ::testing::Types<InProcesses, InTheRank>;

}  // namespace traffic::rollout::testing
