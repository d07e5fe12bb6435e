// The global features of a frame, which describe the whole traffic (declared in node_row.h).
#include <algorithm>
#include <cmath>

#include "columns.h"
#include "node_row.h"

namespace traffic::scene {
namespace {

/// Sums, counts and extremes over all vehicles.
struct Sums {
  double speed = 0;
  double square = 0;
  double accel = 0;
  double abs_accel = 0;
  double completion = 0;
  double cv_speed = 0;
  int cvs = 0;
  int braking = 0;
  int halted = 0;
  int slow = 0;
  double min_speed = 0;
  double max_speed = 0;
};

Sums sum_up(std::span<const Vehicle> vehicles) {
  Sums sums;
  if (!vehicles.empty()) sums.min_speed = vehicles.front().speed_mps;
  for (const auto& v : vehicles) {
    sums.speed += v.speed_mps;
    sums.square += v.speed_mps * v.speed_mps;
    sums.accel += v.accel_mps2;
    sums.abs_accel += std::fabs(v.accel_mps2);
    sums.completion += v.progress;
    sums.braking += v.braking ? 1 : 0;
    sums.halted += v.speed_mps < 0.1 ? 1 : 0;
    sums.slow += v.speed_mps < kQueueSpeedMps ? 1 : 0;
    sums.min_speed = std::min(sums.min_speed, v.speed_mps);
    sums.max_speed = std::max(sums.max_speed, v.speed_mps);
    if (!v.is_cv) continue;
    ++sums.cvs;
    sums.cv_speed += v.speed_mps;
  }
  return sums;
}

}  // namespace

double time_share(double time_s, double end_s) {
  return std::min(1.0, time_s / (end_s > 0 ? end_s : kTimePeriodS));
}

void fill_global_row(std::span<const Vehicle> vehicles, const TrafficTotals& totals,
                     std::span<float> row) {
  const auto set = [&](GlobalColumn column, double value) {
    row[static_cast<std::size_t>(column)] = static_cast<float>(value);
  };
  const Sums sums = sum_up(vehicles);
  const double n = std::max<double>(1.0, static_cast<double>(vehicles.size()));
  const double mean = sums.speed / n;
  set(kMeanSpeed, mean);
  set(kSpeedDeviation, std::sqrt(std::max(0.0, sums.square / n - mean * mean)));
  set(kMinSpeed, sums.min_speed);
  set(kMaxSpeed, sums.max_speed);
  set(kMeanAccel, sums.accel / n);
  set(kMeanAbsAccel, sums.abs_accel / n);
  set(kHardBrakes, sums.braking);
  set(kHaltedShare, sums.halted / n);
  set(kSlowShare, sums.slow / n);
  set(kNumVehicles, static_cast<double>(vehicles.size()));
  set(kNumCvs, sums.cvs);
  set(kCvSpeed, sums.cvs > 0 ? sums.cv_speed / sums.cvs : 0.0);
  set(kMeanCompletion, sums.completion / n);
  set(kWaiting, totals.waiting);
  set(kArrivedLately, totals.arrived_30s);
  set(kTimeShare, totals.time_share);
}

}  // namespace traffic::scene
