// The rollout workers of a job, which serve one pool after the other.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "mpi_main.h"
#include "rollout/pool/counting_environment.h"
#include "traffic/os/process_id.h"
#include "traffic/rollout/pool/worker_pool.h"

namespace traffic::rollout {
namespace {

using testing::bytes_of;
using testing::CountAnswer;
using testing::CountOrder;
using ::testing::IsSubsetOf;
using ::testing::SizeIs;

std::unique_ptr<WorkerPool> make_pool(std::int64_t workers) {
  config::Rollout rollout;
  rollout.workers = workers;
  rollout.envs_per_worker = 2;
  return std::make_unique<WorkerPool>(
      ::traffic::testing::mpi_session(),
      WorkerPoolSpec{.rollout = rollout,
                     .programs = {.rollout_worker = program_beside_this_one("rollout_worker"),
                                  .environment = program_beside_this_one("rollout_counting_env")},
                     .settings = "",
                     .max_order_bytes = sizeof(CountOrder),
                     .max_answer_bytes = sizeof(CountAnswer)});
}

/// The workers that mpirun has started for this job, in ascending order.
std::vector<pid_t> workers() {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto pid = static_cast<pid_t>(std::stol(name));
    const auto stat = os::process_stat(pid);
    if (stat && stat->name == "rollout_worker" && stat->parent == getppid()) found.push_back(pid);
  }
  std::ranges::sort(found);
  return found;
}

void expect_answers(WorkerPool& pool) {
  for (const int env : pool.my_envs()) pool.reset(env, bytes_of(CountOrder{}));
  for (const int env : pool.my_envs()) {
    const auto event = pool.wait_any(std::span(&env, 1), EnvPool::kNoLimit);
    ASSERT_TRUE(event.has_value());
    EXPECT_FALSE(event->lost) << event->why;
  }
}

TEST(WorkerPoolTest, PoolsUseTheWorkersOfEarlierPools) {
  auto pool = make_pool(1);
  expect_answers(*pool);
  const auto first = workers();
  EXPECT_GE(first.size(), 1U);
  pool->close();
  constexpr std::int64_t kMany = 5;  // more than the other tests of this program use
  pool = make_pool(kMany);
  expect_answers(*pool);
  const auto more = workers();
  EXPECT_THAT(more, SizeIs(kMany));
  EXPECT_THAT(first, IsSubsetOf(more));
  pool->close();
  for (const std::int64_t fewer : {std::int64_t{1}, std::int64_t{2}, kMany}) {
    pool = make_pool(fewer);
    expect_answers(*pool);
    EXPECT_EQ(workers(), more) << "a later pool must use the same workers, and start no others";
    pool->close();
  }
}

TEST(WorkerPoolTest, TwoPoolsAtOnceHaveWorkersOfTheirOwn) {
  auto first = make_pool(2);
  auto second = make_pool(2);
  expect_answers(*second);
  expect_answers(*first);
  first->close();
  const auto before = workers();
  auto third = make_pool(2);
  EXPECT_EQ(workers(), before) << "the third pool must use the workers of the first";
  expect_answers(*third);
  expect_answers(*second);
  second->close();
  third->close();
}

}  // namespace
}  // namespace traffic::rollout
