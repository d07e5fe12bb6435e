// Measures which shares of a rank's time go to each kind of work (time_split.h).
#include "traffic/core/time_split.h"

#include <numeric>

#include "traffic/core/clock.h"

namespace traffic {
namespace {

constexpr std::array<const char*, kNumTimeShares> kNames = {
    "data", "forward", "backward", "reduce", "optimizer", "simulate", "infer", "learn", "other"};

}  // namespace

const char* to_string(TimeShare share) { return kNames.at(static_cast<std::size_t>(share)); }

TimeSplit::TimeSplit() : since_s_(steady_seconds()) {}

TimeShare TimeSplit::start(TimeShare share) {
  const double now_s = steady_seconds();
  seconds_[static_cast<std::size_t>(current_)] += now_s - since_s_;
  since_s_ = now_s;
  const TimeShare before = current_;
  current_ = share;
  if (observer_) observer_(share);
  return before;
}

double TimeSplit::seconds(TimeShare share) const {
  const double running = share == current_ ? steady_seconds() - since_s_ : 0.0;
  return seconds_[static_cast<std::size_t>(share)] + running;
}

double TimeSplit::total_seconds() const {
  return std::accumulate(seconds_.begin(), seconds_.end(), steady_seconds() - since_s_);
}

std::map<std::string, double> TimeSplit::shares() const {
  std::array<double, kNumTimeShares> seconds = seconds_;
  seconds[static_cast<std::size_t>(current_)] += steady_seconds() - since_s_;
  const double total = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  std::map<std::string, double> shares;
  for (std::size_t i = 0; i < kNumTimeShares; ++i) {
    shares[kNames[i]] = total > 0.0 ? seconds[i] / total : 0.0;
  }
  return shares;
}

}  // namespace traffic
