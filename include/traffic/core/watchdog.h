/// For calls that may wait for ever and take no deadline.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace traffic {

/// Calls back, in a thread of its own, when it is not destroyed in time. The call that it guards
/// goes on waiting: the only thing left to do is to say so and to end the process.
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
