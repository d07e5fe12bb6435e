/// Where the time of a run goes: one named part after the other, on the steady clock.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traffic::report {

/// Parts are data, forward, backward, reduce, optimizer, simulate, infer, learn. Used by one
/// thread; a start costs one reading of the clock.
class TimeSplit {
 public:
  /// Ends the running part, if any, and begins this one.
  void start(std::string_view part);
  /// Ends the running part.
  void stop();
  /// Seconds of each part since construction or reset, in order of first use.
  [[nodiscard]] const std::vector<std::pair<std::string, double>>& seconds() const {
    return seconds_;
  }
  [[nodiscard]] double total_seconds() const;
  void reset();

 private:
  std::vector<std::pair<std::string, double>> seconds_;
  std::size_t running_ = kNone;
  double started_ = 0.0;
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
};

}  // namespace traffic::report
