/// ThreadStream: the SideStream for CPU tensors. One thread runs the submitted functions beside the
/// caller, in their order.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "traffic/comm/side_stream.h"

namespace traffic::comm {

class ThreadStream final : public SideStream {
 public:
  ThreadStream();
  /// Waits for the running work; drops work that has not started.
  ~ThreadStream() override = default;

  void submit(std::function<void()> work) override;
  void join() override;

 private:
  void run(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> queue_;
  bool busy_ = false;
  std::exception_ptr failure_;  ///< first exception of a submitted function; null if none failed
  std::jthread thread_;         ///< declared last: it must end before the members that it uses are
                                ///< destroyed
};

}  // namespace traffic::comm
