#include "traffic/core/process_family.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace traffic {
namespace {

TEST(ProcessFamily, ContainsAProcessAndItsChildren) {
  // Memory of both processes. It is far above the memory of either process alone, and above the
  // error of counts that the kernel updates late.
  constexpr std::int64_t kSharedBytes = 64'000'000;
  const std::vector<char> shared(kSharedBytes, 'x');
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const auto family = family_of(getpid());
  const auto self = std::ranges::find(family, getpid(), &ProcessFacts::pid);
  ASSERT_NE(self, family.end());
  EXPECT_EQ(self->name, "test_core");
  EXPECT_GT(self->rss_bytes, 1'000'000);
  EXPECT_NE(std::ranges::find(family, child, &ProcessFacts::pid), family.end());
  const auto only = family_of(child);
  ASSERT_EQ(only.size(), 1U);
  EXPECT_EQ(only[0].pid, child);
  // The two processes share most of these pages. own_share_bytes() divides a page by the number of
  // processes that share it.
  EXPECT_GT(only[0].rss_bytes, kSharedBytes * 9 / 10);
  EXPECT_GT(own_share_bytes(child), kSharedBytes * 4 / 10);
  EXPECT_LT(own_share_bytes(child), kSharedBytes * 8 / 10);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(family_of(child).empty());
  EXPECT_EQ(own_share_bytes(child), 0);
}

}  // namespace
}  // namespace traffic
