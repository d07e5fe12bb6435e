#include "monitor/throughput.h"

#include <algorithm>
#include <cmath>

#include "traffic/core/clock.h"

namespace traffic::train {
namespace {

constexpr double kRecent_s = 1.0;

}  // namespace

void Throughput::add(double seconds, std::int64_t items) {
  const double per_s = static_cast<double>(items) / std::max(1e-9, seconds);
  last_step_s_ = seconds;
  const bool first = startup_s_ == 0.0;
  recent_ = first ? per_s : recent_ + (1.0 - std::exp(-seconds / kRecent_s)) * (per_s - recent_);
  if (first) {
    startup_s_ = seconds_since_launch();
    first_items_per_s_ = per_s;
    if (first_is_warm_up_) return;
  }
  seconds_ += seconds;
  items_ += static_cast<double>(items);
}

double Throughput::mean_items_per_s() const {
  return seconds_ > 0.0 ? items_ / seconds_ : first_items_per_s_;
}

}  // namespace traffic::train
