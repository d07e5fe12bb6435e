/// A deadline for calls that may wait for ever and take none themselves.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace traffic {

/// Calls back, in a thread of its own, unless it is destroyed in time. The guarded call goes on
/// waiting, so all that the callback can do is to report it and to end the process.
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
  std::thread thread_;  // last: it uses the others
};

}  // namespace traffic
