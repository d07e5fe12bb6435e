/// Metrics of a validation of the world model, as sums that can be reduced over ranks.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace traffic::train {

/// Area under the ROC curve from two histograms of scores, which can be added over ranks. Scores
/// are probabilities in [0, 1]; binning changes a score by less than 1 / kBins.
class RocHistogram {
 public:
  static constexpr int kBins = 4096;
  void add(double score, bool positive);
  /// Probability that a positive scores above a negative (ties count half); NaN if either is
  /// missing.
  [[nodiscard]] double auc() const;
  [[nodiscard]] double base_rate() const;
  /// [2 * kBins] counts of negatives, then of positives, for reducing over ranks.
  [[nodiscard]] std::span<double> counts() { return counts_; }

 private:
  std::vector<double> counts_ = std::vector<double>(2 * kBins, 0.0);
};

/// Squared errors of position and speed of three predictors at every horizon.
struct HorizonErrors {
  enum Predictor : std::uint8_t {
    kModel,
    kConstantVelocity,
    kConstantAcceleration,
    kNumPredictors
  };
  static constexpr std::array<const char*, kNumPredictors> kNames{"model", "constant velocity",
                                                                  "constant acceleration"};

  explicit HorizonErrors(std::int64_t horizons);

  /// Adds the errors of one vehicle at one horizon (0-based).
  void add(Predictor predictor, std::int64_t horizon, double position_error_m,
           double speed_error_mps);
  [[nodiscard]] double position_rmse_m(Predictor predictor, std::int64_t horizon) const;
  [[nodiscard]] double speed_rmse_mps(Predictor predictor, std::int64_t horizon) const;
  [[nodiscard]] std::int64_t horizons() const { return horizons_; }
  /// Sums and counts, for reducing over ranks.
  [[nodiscard]] std::span<double> sums() { return sums_; }

 private:
  [[nodiscard]] std::size_t index(Predictor predictor, std::int64_t horizon) const;
  std::int64_t horizons_;
  std::vector<double> sums_;  ///< [predictor, horizon, {position, speed, count}]
};

/// Displacement and speed after `seconds` at constant acceleration; a braking vehicle stops and
/// does not reverse.
/// @return {metres, m/s}
std::pair<double, double> constant_acceleration_prediction(double speed_mps,
                                                           double acceleration_mps2,
                                                           double seconds);

}  // namespace traffic::train
