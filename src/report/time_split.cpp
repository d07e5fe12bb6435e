#include "traffic/report/time_split.h"

#include "traffic/core/clock.h"

namespace traffic::report {

void TimeSplit::start(std::string_view part) {
  const double now = steady_seconds();
  if (running_ != kNone) seconds_[running_].second += now - started_;
  started_ = now;
  for (std::size_t i = 0; i < seconds_.size(); ++i) {
    if (seconds_[i].first == part) {
      running_ = i;
      return;
    }
  }
  running_ = seconds_.size();
  seconds_.emplace_back(part, 0.0);
}

void TimeSplit::stop() {
  if (running_ != kNone) seconds_[running_].second += steady_seconds() - started_;
  running_ = kNone;
}

double TimeSplit::total_seconds() const {
  double total = 0.0;
  for (const auto& [part, seconds] : seconds_) total += seconds;
  return total;
}

void TimeSplit::reset() {
  seconds_.clear();
  running_ = kNone;
}

}  // namespace traffic::report
