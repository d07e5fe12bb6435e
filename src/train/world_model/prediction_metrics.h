/// Metrics of a validation of the world model: errors of predicted motion, and the area under the
/// ROC curve of predicted conflicts. They are stored as sums, which ranks can add up.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace traffic::train {

/// Computes the area under the ROC curve from two histograms of scores, one of positive and one of
/// negative examples. Scores are probabilities in [0, 1]; binning changes a score by less than
/// 1 / kBins.
class RocHistogram {
 public:
  static constexpr int kBins = 4096;
  void add(double score, bool positive);
  /// Probability that a positive example has a higher score than a negative example; equal scores
  /// count half. NaN if there are no positive or no negative examples.
  [[nodiscard]] double auc() const;
  /// Share of positive examples.
  [[nodiscard]] double base_rate() const;
  /// [2 * kBins] counts of negative, then of positive examples, for adding over ranks.
  [[nodiscard]] std::span<double> counts() { return counts_; }

 private:
  std::vector<double> counts_ = std::vector<double>(2 * kBins, 0.0);
};

/// Squared errors of position and speed of three predictors at every horizon. Horizon h is the h-th
/// predicted frame.
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
  /// Sums and counts, for adding over ranks.
  [[nodiscard]] std::span<double> sums() { return sums_; }

 private:
  [[nodiscard]] std::size_t index(Predictor predictor, std::int64_t horizon) const;
  std::int64_t horizons_;
  std::vector<double> sums_;  ///< [predictor, horizon, {position, speed, count}]
};

/// Predicts displacement and speed after `seconds` at constant acceleration. A braking vehicle
/// stops and does not reverse.
/// @return {metres, m/s}
std::pair<double, double> constant_acceleration_prediction(double speed_mps,
                                                           double acceleration_mps2,
                                                           double seconds);

}  // namespace traffic::train
