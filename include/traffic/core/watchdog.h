/// Watchdog sets a deadline for a call that may wait for ever and takes no timeout itself.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace traffic {

/// Calls on_timeout in a separate thread if the watchdog still exists after timeout_s.
/// The guarded call continues to wait, so the callback can only report it and end the process.
class Watchdog {
 public:
  Watchdog(double timeout_s, std::function<void()> on_timeout);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;  // declared last: it uses the other members
};

}  // namespace traffic
