/// Measures which shares of a rank's time go to waiting for data, forward, backward and so on.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace traffic {

/// What a rank does with its time.
enum class TimeShare {
  kData,       ///< waits for training data
  kForward,    ///< forward passes
  kBackward,   ///< backward passes
  kReduce,     ///< averages gradients over the ranks
  kOptimizer,  ///< steps of the optimiser
  kSimulate,   ///< waits for simulations, or runs games
  kInfer,      ///< computes actions
  kLearn,      ///< updates policies in reinforcement learning
  kOther,      ///< everything else
};
inline constexpr std::size_t kNumTimeShares = static_cast<std::size_t>(TimeShare::kOther) + 1;

/// The name of a share in metrics: "data", "forward", ...
const char* to_string(TimeShare share);

/// Divides the time of one thread into shares. Every moment belongs to exactly one share. The first
/// share is kOther. A change of shares costs one reading of the clock.
class TimeSplit {
 public:
  /// Counts the time from its construction to its destruction for a share. After that, time counts
  /// for the previous share again.
  class Scope {
   public:
    Scope(TimeSplit& split, TimeShare share) : split_(split), outer_(split.start(share)) {}
    ~Scope() { split_.start(outer_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    TimeSplit& split_;
    TimeShare outer_;
  };

  TimeSplit();
  /// Counts the time from now on for this share.
  /// @return the share for which time was counted until now
  TimeShare start(TimeShare share);
  /// Counts time for this share as long as the result exists.
  [[nodiscard]] Scope measure(TimeShare share) { return {*this, share}; }
  [[nodiscard]] TimeShare current() const { return current_; }
  /// Calls the observer at every change, with the share that begins. There is one observer; an
  /// empty function removes it.
  void observe(std::function<void(TimeShare)> observer) { observer_ = std::move(observer); }
  /// Seconds of one share so far, including the time since the last change.
  [[nodiscard]] double seconds(TimeShare share) const;
  [[nodiscard]] double total_seconds() const;
  /// Each share's fraction of the total time, by name. The fractions add up to 1; all are 0 before
  /// any time has passed.
  [[nodiscard]] std::map<std::string, double> shares() const;

 private:
  std::array<double, kNumTimeShares> seconds_{};
  TimeShare current_ = TimeShare::kOther;
  double since_s_;
  std::function<void(TimeShare)> observer_;
};

}  // namespace traffic
