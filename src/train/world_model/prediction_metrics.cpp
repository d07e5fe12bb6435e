#include "world_model/prediction_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "traffic/core/error.h"

namespace traffic::train {

void RocHistogram::add(double score, bool positive) {
  const int bin = std::clamp(static_cast<int>(score * kBins), 0, kBins - 1);
  counts_[static_cast<std::size_t>(positive ? kBins + bin : bin)] += 1.0;
}

double RocHistogram::auc() const {
  double negatives = 0.0;
  double positives = 0.0;
  double pairs = 0.0;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    pairs += counts_[kBins + bin] * (negatives + 0.5 * counts_[bin]);
    negatives += counts_[bin];
    positives += counts_[kBins + bin];
  }
  const double all = negatives * positives;
  return all > 0.0 ? pairs / all : std::numeric_limits<double>::quiet_NaN();
}

double RocHistogram::base_rate() const {
  double negatives = 0.0;
  double positives = 0.0;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    negatives += counts_[bin];
    positives += counts_[kBins + bin];
  }
  const double all = negatives + positives;
  return all > 0.0 ? positives / all : std::numeric_limits<double>::quiet_NaN();
}

HorizonErrors::HorizonErrors(std::int64_t horizons)
    : horizons_(horizons), sums_(static_cast<std::size_t>(kNumPredictors * horizons * 3), 0.0) {}

std::size_t HorizonErrors::index(Predictor predictor, std::int64_t horizon) const {
  TRAFFIC_CHECK(horizon >= 0 && horizon < horizons_,
                "the horizon is {}, expected 0 or more and less than {}", horizon, horizons_);
  return static_cast<std::size_t>((static_cast<std::int64_t>(predictor) * horizons_ + horizon) * 3);
}

void HorizonErrors::add(Predictor predictor, std::int64_t horizon, double position_error_m,
                        double speed_error_mps) {
  const std::size_t i = index(predictor, horizon);
  sums_[i] += position_error_m * position_error_m;
  sums_[i + 1] += speed_error_mps * speed_error_mps;
  sums_[i + 2] += 1.0;
}

double HorizonErrors::position_rmse_m(Predictor predictor, std::int64_t horizon) const {
  const std::size_t i = index(predictor, horizon);
  return std::sqrt(sums_[i] / sums_[i + 2]);
}

double HorizonErrors::speed_rmse_mps(Predictor predictor, std::int64_t horizon) const {
  const std::size_t i = index(predictor, horizon);
  return std::sqrt(sums_[i + 1] / sums_[i + 2]);
}

std::pair<double, double> constant_acceleration_prediction(double speed_mps,
                                                           double acceleration_mps2,
                                                           double seconds) {
  double moving_s = seconds;
  if (acceleration_mps2 < 0.0) {
    moving_s = std::min(seconds, -speed_mps / acceleration_mps2);
  }
  const double displacement_m = (speed_mps + 0.5 * acceleration_mps2 * moving_s) * moving_s;
  return {displacement_m, std::max(0.0, speed_mps + acceleration_mps2 * moving_s)};
}

}  // namespace traffic::train
