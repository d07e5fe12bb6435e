#include "traffic/rollout/pool/local_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "rollout/pool/counting_environment.h"

namespace {
std::atomic<std::int64_t> num_allocations{0};
}

// Counts the allocations of this program.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++num_allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}

namespace traffic::rollout {
namespace {

using testing::bytes_of;

// conformance_test.cpp tests the behaviour that both kinds of pools share.
TEST(LocalPool, ThousandsOfEnvironmentsAreSteppedWithoutAllocating) {
  constexpr int kEnvs = 4096;
  LocalPool pool({.num_envs = kEnvs,
                  .max_answer_bytes = sizeof(testing::CountAnswer),
                  .make = [](const EnvPlace& place) {
                    return std::make_unique<testing::CountingEnvironment>(place);
                  }});
  ASSERT_EQ(pool.groups().size(), 1U);
  const auto envs = pool.my_envs();
  for (const int env : envs) pool.reset(env, bytes_of({.value = env, .length = 50}));
  std::vector<Event> events;
  pool.wait_all(envs, events);
  const std::int64_t before = num_allocations;
  for (int round = 0; round < 50; ++round) {
    for (const int env : envs) pool.step(env, bytes_of({.value = 2}));
    pool.wait_all(envs, events);
    ASSERT_EQ(events.size(), envs.size());
  }
  EXPECT_EQ(num_allocations, before);
  for (const Event& event : events) {
    testing::CountAnswer answer;
    std::memcpy(&answer, pool.answer(event.env).data(), sizeof(answer));
    ASSERT_EQ(answer.sum, event.env + 100);
    ASSERT_TRUE(event.done);
  }
  EXPECT_EQ(pool.counters().steps, 50U * kEnvs);
  EXPECT_EQ(pool.counters().episodes, std::uint64_t{kEnvs});
}

TEST(LocalPool, EachRankHasItsShare) {
  std::vector<int> all;
  for (int rank = 0; rank < 3; ++rank) {
    const LocalPool pool({.rank = rank,
                          .num_ranks = 3,
                          .num_envs = 7,
                          .max_answer_bytes = sizeof(testing::CountAnswer),
                          .make = [](const EnvPlace& place) {
                            return std::make_unique<testing::CountingEnvironment>(place);
                          }});
    for (const int env : pool.my_envs()) EXPECT_EQ(env % 3, rank);
    all.insert(all.end(), pool.my_envs().begin(), pool.my_envs().end());
  }
  EXPECT_EQ(all.size(), 7U);
}

}  // namespace
}  // namespace traffic::rollout
