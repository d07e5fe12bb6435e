#include "futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "traffic/core/error.h"

namespace traffic::rollout {

bool sleep_while_equal(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                       double timeout_s) {
  const double limit_s = std::clamp(timeout_s, 0.0, 1e6);
  timespec limit{};
  limit.tv_sec = static_cast<time_t>(limit_s);
  limit.tv_nsec = static_cast<long>((limit_s - static_cast<double>(limit.tv_sec)) * 1e9);
  if (syscall(SYS_futex, &word, FUTEX_WAIT, value, &limit, nullptr, 0) == 0) return true;
  if (errno == ETIMEDOUT) return false;
  TRAFFIC_CHECK(errno == EAGAIN || errno == EINTR, "futex wait failed: errno {}", errno);
  return true;
}

void wake_all(const std::atomic<std::uint32_t>& word) {
  const auto result = syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  TRAFFIC_CHECK(result >= 0, "futex wake failed: errno {}", errno);
}

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace traffic::rollout
