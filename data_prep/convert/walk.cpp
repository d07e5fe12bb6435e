#include "walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "traffic/core/error.h"
#include "traffic/core/signals.h"

namespace traffic::data_prep {
namespace {

constexpr std::size_t kQueueFrames = 16;
constexpr double kStepTolerance = 1e-3;

/// Reads a recording in a thread of its own, some frames ahead. Frames that the caller has
/// processed go back to the thread, which reuses their memory.
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

  /// Stores the next frame in `frame`. The thread reuses the old buffers of `frame`.
  /// @return false at the end of the recording
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

/// Finds the length of a time step, checks times and vehicles of each frame, and calls the visitor.
class Steps {
 public:
  Steps(const std::string& file, Places places, double largest_speed_error, InputProblems& problems,
        Visitor& visitor)
      : file_(file),
        problems_(problems),
        visitor_(visitor),
        motion_(file, problems, places, largest_speed_error) {}

  void take(RecordedFrame& frame) {
    if (result_.step_s > 0) {
      step_to(frame);
      return;
    }
    first_.push_back(std::move(frame));
    frame = {};
    if (first_.size() >= kFramesForStep) start();
  }

  void finish() {
    if (result_.step_s == 0) start();
    motion_.finish();
    if (2 * result_.gaps > result_.frames) {
      throw DataError(
          "{}: {} of {} frames come more than {:.6g} s after the previous frame; expected frames "
          "at equal intervals",
          file_, result_.gaps, result_.frames, result_.step_s);
    }
    result_.jumps = motion_.jumps();
  }

  [[nodiscard]] const WalkResult& result() const { return result_; }

 private:
  void start() {
    result_.step_s = most_frequent_step();
    if (result_.step_s == 0) return;
    for (RecordedFrame& frame : first_) step_to(frame);
    first_.clear();
  }

  /// The most frequent difference between the times of consecutive frames, among the first frames.
  /// If several differences are equally frequent, the one that occurs first. 0 if no time grows.
  [[nodiscard]] double most_frequent_step() const {
    std::vector<std::pair<double, int>> counts;
    for (std::size_t i = 1; i < first_.size(); ++i) {
      const double step_s = difference_s(first_[i].time_s, first_[i - 1].time_s);
      if (step_s <= 0 || first_[i].begins_stretch) continue;
      const auto found = std::find_if(counts.begin(), counts.end(), [&](const auto& item) {
        return data::same_interval(item.first, step_s);
      });
      if (found == counts.end()) {
        counts.emplace_back(step_s, 1);
      } else {
        ++found->second;
      }
    }
    const auto most =
        std::max_element(counts.begin(), counts.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == counts.end() ? 0 : most->first;
  }

  /// The difference of two times. Large absolute times have few precise digits after the point. The
  /// result is therefore rounded to microseconds if this changes it by less than the precision of
  /// the times.
  static double difference_s(double later_s, double earlier_s) {
    constexpr double kPerSecond = 1e6;
    const double found_s = later_s - earlier_s;
    const double whole_s = std::round(found_s * kPerSecond) / kPerSecond;
    const double rounding_s = 4 * std::numeric_limits<double>::epsilon() *
                              std::max({std::abs(later_s), std::abs(earlier_s), 1 / kPerSecond});
    return std::abs(whole_s - found_s) <= rounding_s ? whole_s : found_s;
  }

  void step_to(RecordedFrame& frame) {
    if (result_.frames == 0 || frame.begins_stretch) {
      begin(frame.time_s);
    } else {
      if (!is_later(frame)) return;
      const double steps = (frame.time_s - last_s_) / result_.step_s;
      if (!is_whole_step(frame, steps)) return;
      if (steps > 1 + kStepTolerance) {
        ++result_.gaps;
        begin(frame.time_s);
      }
    }
    last_s_ = frame.time_s;
    ++result_.frames;
    motion_.check(frame);
    visitor_.visit(frame, frame.time_s - begin_s_);
  }

  bool is_later(const RecordedFrame& frame) {
    if (frame.time_s > last_s_) return true;
    problems_.report(
        file_, frame.line,
        fmt::format("the time {} s follows {} s, expected a later time", frame.time_s, last_s_));
    return false;
  }

  /// Checks that the frame comes one step after the previous frame. After a gap of two steps or
  /// more any time is accepted, because another recording may follow in the same file.
  /// @param steps time since the previous frame in steps
  bool is_whole_step(const RecordedFrame& frame, double steps) {
    constexpr double kLongGap = 2 - kStepTolerance;
    if (steps >= kLongGap || std::abs(steps - 1) <= kStepTolerance) return true;
    problems_.report(file_, frame.line,
                     fmt::format("the frame at {} s comes {:.6g} s after the previous frame, but "
                                 "most frames are {:.6g} s apart; write times with all digits "
                                 "(SUMO: --precision) and at equal intervals",
                                 frame.time_s, frame.time_s - last_s_, result_.step_s));
    return false;
  }

  void begin(double time_s) {
    begin_s_ = time_s - result_.step_s;
    motion_.begin_stretch(result_.step_s);
    visitor_.begin_stretch(result_.step_s);
  }

  static constexpr std::size_t kFramesForStep = 8;

  const std::string& file_;
  InputProblems& problems_;
  Visitor& visitor_;
  MotionCheck motion_;
  WalkResult result_;
  std::vector<RecordedFrame> first_;  ///< the first frames, until the length of a step is known
  double begin_s_ = 0;
  double last_s_ = 0;
};

}  // namespace

WalkResult walk(Recording& recording, const std::string& file, Places places,
                InputProblems& problems, Visitor& visitor) {
  ReadAhead frames(recording);
  Steps steps(file, places, recording.largest_speed_error(), problems, visitor);
  RecordedFrame frame;
  while (frames.next(frame)) {
    if (stop_requested()) throw Error("stopped by request", ExitCode::kStopped);
    steps.take(frame);
  }
  steps.finish();
  return steps.result();
}

}  // namespace traffic::data_prep
