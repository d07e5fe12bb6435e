/// Statistics of data sets for the command data_prep stats: ranges and histograms of the features,
/// base rates of the conflict label, and the error of the prediction that vehicles keep their
/// speed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "traffic/data/reader.h"

namespace traffic::data {

/// Running minimum, mean, standard deviation and maximum (Welford 1962).
class Moments {
 public:
  void add(double value);
  /// Adds the values that `other` has seen. The result is the same, up to rounding errors, as if
  /// they had been added one by one.
  void merge(const Moments& other);
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] double min() const { return min_; }
  [[nodiscard]] double max() const { return max_; }
  [[nodiscard]] double mean() const { return mean_; }
  [[nodiscard]] double standard_deviation() const;

 private:
  std::int64_t count_ = 0;
  double min_ = 0;
  double max_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

/// Counts how many values fall into each of several equally wide bins.
struct Histogram {
  double low = 0;
  double high = 0;
  std::vector<std::int64_t> counts;

  /// @param bins number of bins; if low_value equals high_value, there is one bin
  Histogram(double low_value, double high_value, std::size_t bins)
      : low(low_value), high(high_value), counts(high_value > low_value ? bins : 1, 0) {}
  /// Counts a value. A value outside of the range counts in the first or the last bin.
  void add(double value);
};

/// Histograms of every node feature and of the number of vehicles in a frame. The ranges come from
/// a previous pass over the data (Statistics).
class Histograms {
 public:
  Histograms(std::span<const Moments> node_features, const Moments& vehicles_per_frame,
             std::size_t bins);
  /// Reads all frames of the file.
  void add(const DatasetReader& file);
  void merge(const Histograms& other);
  [[nodiscard]] std::span<const Histogram> node_features() const { return nodes_; }
  [[nodiscard]] const Histogram& vehicles_per_frame() const { return vehicles_; }

 private:
  std::vector<Histogram> nodes_;
  Histogram vehicles_;
};

/// How often the conflict label is 1. The label is 1 if the time-to-collision with the leader falls
/// below ttc_s within the horizon.
struct BaseRate {
  double ttc_s = 0;
  std::int64_t positive = 0;  ///< vehicle-frames (a vehicle in a frame) with label 1
};

/// Error of the prediction that every vehicle keeps its speed.
struct ConstantSpeedError {
  double seconds = 0;       ///< how far ahead the prediction looks
  std::int64_t frames = 0;  ///< `seconds` as a number of frames
  std::int64_t count = 0;   ///< number of predictions
  double squares_m2 = 0;    ///< sum of the squared errors of the position
  [[nodiscard]] double rmse_m() const;
};

struct StatisticsOptions {
  std::int64_t horizon_frames = 5;                       ///< horizon of the conflict label
  std::vector<double> ttc_limits_s{1.0, 1.5, 2.0, 3.0};  ///< conflict labels to count
  std::vector<double> horizons_s{1.0, 5.0};  ///< horizons of the constant-speed prediction
};

/// Collects statistics over files that have the same features.
class Statistics {
 public:
  explicit Statistics(StatisticsOptions options) : options_(std::move(options)) {}
  /// Reads all frames of the file.
  /// @throws DataError if the features or the frame interval differ from those of the first file
  void add(const DatasetReader& file);
  /// Adds the statistics of other files, which must have been made with the same options.
  /// @throws DataError if the features or the frame interval differ
  void merge(const Statistics& other);

  [[nodiscard]] const FeatureTable& node_features() const { return node_table_; }
  [[nodiscard]] const FeatureTable& edge_features() const { return edge_table_; }
  [[nodiscard]] std::span<const Moments> node_moments() const { return nodes_; }
  [[nodiscard]] std::span<const Moments> edge_moments() const { return edges_; }
  [[nodiscard]] const Moments& vehicles_per_frame() const { return vehicles_; }
  /// Number of vehicle-frames that have a conflict label, because the vehicle is still there in a
  /// later frame of the horizon. It is the denominator of base_rates().
  [[nodiscard]] std::int64_t labelled() const { return labelled_; }
  [[nodiscard]] std::span<const BaseRate> base_rates() const { return rates_; }
  [[nodiscard]] std::span<const ConstantSpeedError> constant_speed() const { return errors_; }

 private:
  struct Vehicle {
    float position_m;
    float speed_mps;
    std::uint32_t conflicts;  ///< bit i: the time-to-collision is below ttc_limits_s[i] now
    std::uint32_t ahead;      ///< bit i: it is below ttc_limits_s[i] in a later horizon frame
    bool has_future;          ///< whether a later frame of the horizon contains the vehicle
  };
  using Frame = std::unordered_map<std::uint32_t, Vehicle>;

  void prepare(const DatasetReader& file);
  [[nodiscard]] bool same_kind(const Statistics& other) const;
  void add_moments(const PackedFrames& frames);
  [[nodiscard]] Frame read_vehicles(const PackedFrames& frames, std::size_t frame) const;
  void compare(const Frame& now, std::vector<Frame>& past);
  void close(const Frame& frame);

  StatisticsOptions options_;
  std::string first_file_;  ///< path of the first file, for messages
  FeatureTable node_table_;
  FeatureTable edge_table_;
  double interval_s_ = 0;
  std::size_t keep_ = 0;  ///< number of past frames to compare with
  std::vector<Moments> nodes_;
  std::vector<Moments> edges_;
  Moments vehicles_;
  std::int64_t labelled_ = 0;
  std::vector<BaseRate> rates_;
  std::vector<ConstantSpeedError> errors_;
};

}  // namespace traffic::data
