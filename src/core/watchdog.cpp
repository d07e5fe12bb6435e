// Watchdog: a thread that runs an action if a call takes too long (watchdog.h).
#include "traffic/core/watchdog.h"

#include <chrono>
#include <utility>

namespace traffic {

Watchdog::Watchdog(double timeout_s, std::function<void()> on_timeout)
    : thread_([this, timeout_s, action = std::move(on_timeout)] {
        std::unique_lock lock(mutex_);
        const auto limit = std::chrono::duration<double>(timeout_s);
        if (!changed_.wait_for(lock, limit, [this] { return done_; })) action();
      }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

}  // namespace traffic
