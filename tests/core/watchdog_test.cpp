#include "traffic/core/watchdog.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>

namespace traffic {
namespace {

TEST(Watchdog, IsSilentIfTheWorkEndsInTime) {
  std::atomic<int> barks = 0;
  {
    const Watchdog dog(60.0, [&] { ++barks; });
  }
  EXPECT_EQ(barks, 0);
}

TEST(WatchdogDeathTest, EndsAProcessWhoseCallNeverReturns) {
  EXPECT_EXIT(
      {
        const Watchdog dog(0.05, [] { _exit(7); });
        while (true) pause();
      },
      ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace traffic
