// ThreadStream: a thread that runs submitted functions in their order (thread_stream.h).
#include "thread_stream.h"

#include <utility>

namespace traffic::comm {

ThreadStream::ThreadStream() : thread_([this](const std::stop_token& stop) { run(stop); }) {}

void ThreadStream::submit(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_ == nullptr) queue_.push_back(std::move(work));
  }
  changed_.notify_all();
}

void ThreadStream::join() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return queue_.empty() && !busy_; });
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadStream::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !queue_.empty(); })) {
    if (stop.stop_requested()) return;
    const std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    busy_ = true;
    lock.unlock();
    std::exception_ptr failure;
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    busy_ = false;
    if (failure != nullptr) {
      failure_ = failure;
      queue_.clear();
    }
    changed_.notify_all();
  }
}

}  // namespace traffic::comm
