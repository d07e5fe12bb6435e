// Lets a process sleep until another process changes a word of their shared memory.
#include "traffic/os/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "system_failure.h"

namespace traffic::os {

// No call uses FUTEX_PRIVATE_FLAG, which works within one process only: several processes share
// the words.
bool sleep_while_equal(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                       double timeout_s) {
  const double limit_s = std::clamp(timeout_s, 0.0, 1e6);
  timespec limit{};
  limit.tv_sec = static_cast<time_t>(limit_s);
  limit.tv_nsec = static_cast<long>((limit_s - static_cast<double>(limit.tv_sec)) * 1e9);
  if (syscall(SYS_futex, &word, FUTEX_WAIT, value, &limit, nullptr, 0) == 0) return true;
  if (errno == ETIMEDOUT) return false;
  if (errno == EAGAIN || errno == EINTR) return true;
  fail(errno, "cannot wait on a futex");
}

void wake_all(const std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace traffic::os
