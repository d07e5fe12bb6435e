/// A deadline for calls that may wait for ever and have no deadline of their own.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace traffic {

/// Calls on_timeout in a thread of its own, unless the watchdog is destroyed before the deadline.
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
