#include "walk.h"

#include <fmt/format.h>

#include <cmath>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/core/signals.h"

namespace traffic::data_prep {
namespace {

constexpr std::size_t kQueueFrames = 16;
constexpr double kStepTolerance = 1e-3;

/// A recording read ahead by a thread, which hands full frames over and gets empty ones back.
class ReadAhead {
 public:
  explicit ReadAhead(Recording& recording) : thread_([this, &recording] { read(recording); }) {}
  ~ReadAhead() {
    {
      const std::lock_guard lock(mutex_);
      wanted_ = false;
    }
    changed_.notify_all();
    thread_.join();
  }
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// @param frame gets the next one, its old buffers are used again. @return false at the end
  bool next(RecordedFrame& frame) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !full_.empty() || done_; });
    if (full_.empty()) {
      if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
      return false;
    }
    std::swap(frame, full_.front());
    empty_.push_back(std::move(full_.front()));
    full_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return true;
  }

 private:
  bool hand_over(RecordedFrame& frame) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return full_.size() < kQueueFrames || !wanted_; });
    if (!wanted_) return false;
    full_.push_back(std::move(frame));
    frame = {};
    if (!empty_.empty()) {
      frame = std::move(empty_.back());
      empty_.pop_back();
    }
    lock.unlock();
    changed_.notify_all();
    return true;
  }

  void read(Recording& recording) {
    std::exception_ptr failure;
    try {
      recording.read([this](RecordedFrame& frame) { return hand_over(frame); });
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    failure_ = failure;
    done_ = true;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<RecordedFrame> full_;
  std::vector<RecordedFrame> empty_;
  bool wanted_ = true;
  bool done_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

/// Steps of equal length; what does not fit is reported.
class Steps {
 public:
  Steps(const std::string& file, InputProblems& problems, Visitor& visitor)
      : file_(file), problems_(problems), visitor_(visitor) {}

  void take(RecordedFrame& frame) {
    if (!has_first_) {
      std::swap(first_, frame);
      has_first_ = true;
      return;
    }
    if (result_.step_s == 0) {
      if (!grows(frame, first_.time_s)) return;
      result_.step_s = frame.time_s - first_.time_s;
      begin(first_.time_s);
      visit(first_);
    }
    if (!grows(frame, last_s_)) return;
    const double steps = (frame.time_s - last_s_) / result_.step_s;
    if (steps < 1 - kStepTolerance) {
      problems_.report(
          file_, frame.line,
          fmt::format("the frame of {} s comes {} s after the one before it, the first "
                      "two are {} s apart",
                      frame.time_s, frame.time_s - last_s_, result_.step_s));
      return;
    }
    if (steps > 1 + kStepTolerance) {
      ++result_.gaps;
      begin(frame.time_s);
    }
    visit(frame);
  }

  [[nodiscard]] const WalkResult& result() const { return result_; }

 private:
  bool grows(const RecordedFrame& frame, double last_s) {
    if (frame.time_s > last_s) return true;
    problems_.report(
        file_, frame.line,
        fmt::format("the time is {} s after {} s, expected a later one", frame.time_s, last_s));
    return false;
  }
  void begin(double time_s) {
    begin_s_ = time_s - result_.step_s;
    visitor_.begin_stretch(result_.step_s);
  }
  void visit(const RecordedFrame& frame) {
    last_s_ = frame.time_s;
    ++result_.frames;
    visitor_.visit(frame, frame.time_s - begin_s_);
  }

  const std::string& file_;
  InputProblems& problems_;
  Visitor& visitor_;
  WalkResult result_;
  RecordedFrame first_;
  bool has_first_ = false;
  double begin_s_ = 0;
  double last_s_ = 0;
};

}  // namespace

WalkResult walk(Recording& recording, const std::string& file, InputProblems& problems,
                Visitor& visitor) {
  ReadAhead frames(recording);
  Steps steps(file, problems, visitor);
  RecordedFrame frame;
  while (frames.next(frame)) {
    if (stop_requested()) throw Error("stopped by request", ExitCode::kStopped);
    steps.take(frame);
  }
  return steps.result();
}

}  // namespace traffic::data_prep
