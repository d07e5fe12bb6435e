// Statistics of data sets: ranges, histograms, shares of labels, and the error of predicting that
// vehicles keep their speed.
#include "traffic/data/statistics.h"

#include <algorithm>
#include <cmath>

#include "traffic/core/error.h"
#include "traffic/data/plausible.h"

namespace traffic::data {
void Moments::add(double value) {
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = count_ == 0 ? value : std::max(max_, value);
  ++count_;
  const double delta = value - mean_;
  mean_ += delta / static_cast<double>(count_);
  squares_ += delta * (value - mean_);
}

void Moments::merge(const Moments& other) {
  if (other.count_ == 0) return;
  if (count_ == 0) {
    *this = other;
    return;
  }
  // Joins means and squared deviations of two sets as Chan, Golub and LeVeque (1979) do.
  const auto n = static_cast<double>(count_);
  const auto m = static_cast<double>(other.count_);
  const double delta = other.mean_ - mean_;
  mean_ += delta * m / (n + m);
  squares_ += other.squares_ + delta * delta * n * m / (n + m);
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

double Moments::standard_deviation() const {
  return count_ > 1 ? std::sqrt(squares_ / static_cast<double>(count_ - 1)) : 0.0;
}

double ConstantSpeedError::rmse_m() const {
  return count > 0 ? std::sqrt(squares_m2 / static_cast<double>(count)) : 0.0;
}

void Histogram::add(double value) {
  const double place = high > low ? (value - low) / (high - low) : 0.0;
  const auto bins = static_cast<double>(counts.size());
  const double bin = std::clamp(std::floor(place * bins), 0.0, bins - 1);
  ++counts[static_cast<std::size_t>(bin)];
}

Histograms::Histograms(std::span<const Moments> node_features, const Moments& vehicles_per_frame,
                       std::size_t bins)
    : vehicles_(vehicles_per_frame.min(), vehicles_per_frame.max(), bins) {
  for (const Moments& m : node_features) nodes_.emplace_back(m.min(), m.max(), bins);
}

void Histograms::add(const DatasetReader& file) {
  for (std::int64_t frame = 0, count = 0; frame < file.num_frames(); frame += count) {
    count = file.frames_at_once(frame, file.num_frames());
    const auto frames = file.read_frames(frame, count);
    for (std::size_t f = 0; f + 1 < frames.node_ptr.size(); ++f) {
      vehicles_.add(frames.node_ptr[f + 1] - frames.node_ptr[f]);
    }
    for (std::size_t i = 0; i < frames.node_features.size(); ++i) {
      nodes_[i % nodes_.size()].add(frames.node_features[i]);
    }
  }
}

void Histograms::merge(const Histograms& other) {
  const auto add_counts = [](Histogram& to, const Histogram& from) {
    for (std::size_t i = 0; i < to.counts.size(); ++i) to.counts[i] += from.counts[i];
  };
  for (std::size_t i = 0; i < nodes_.size(); ++i) add_counts(nodes_[i], other.nodes_[i]);
  add_counts(vehicles_, other.vehicles_);
}

bool Statistics::same_kind(const Statistics& other) const {
  return other.node_table_ == node_table_ && other.edge_table_ == edge_table_ &&
         same_interval(other.interval_s_, interval_s_);
}

void Statistics::merge(const Statistics& other) {
  if (other.node_table_.empty()) return;
  if (node_table_.empty()) {
    *this = other;
    return;
  }
  if (!same_kind(other)) {
    throw DataError(
        "{} has other features or another frame interval than {}; compute statistics "
        "only over files of one kind",
        other.first_file_, first_file_);
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i].merge(other.nodes_[i]);
  for (std::size_t i = 0; i < edges_.size(); ++i) edges_[i].merge(other.edges_[i]);
  vehicles_.merge(other.vehicles_);
  labelled_ += other.labelled_;
  for (std::size_t i = 0; i < rates_.size(); ++i) rates_[i].positive += other.rates_[i].positive;
  for (std::size_t i = 0; i < errors_.size(); ++i) {
    errors_[i].count += other.errors_[i].count;
    errors_[i].squares_m2 += other.errors_[i].squares_m2;
  }
}

void Statistics::prepare(const DatasetReader& file) {
  const FileInfo& info = file.info();
  if (!node_table_.empty()) {
    if (info.node_features != node_table_ || info.edge_features != edge_table_ ||
        !same_interval(info.frame_interval_s, interval_s_)) {
      throw DataError(
          "{} has other features or another frame interval than the files before it; "
          "compute statistics only over files of one kind",
          file.path());
    }
    return;
  }
  first_file_ = file.path();
  node_table_ = info.node_features;
  edge_table_ = info.edge_features;
  interval_s_ = info.frame_interval_s;
  nodes_.resize(node_table_.size());
  edges_.resize(edge_table_.size());
  for (const double limit : options_.ttc_limits_s) rates_.push_back({limit, 0});
  keep_ = static_cast<std::size_t>(options_.horizon_frames);
  for (const double seconds : options_.horizons_s) {
    const auto frames = std::max<std::int64_t>(1, std::llround(seconds / interval_s_));
    errors_.push_back({static_cast<double>(frames) * interval_s_, frames, 0, 0});
    keep_ = std::max(keep_, static_cast<std::size_t>(frames));
  }
}

void Statistics::add(const DatasetReader& file) {
  prepare(file);
  for (const Episode& episode : file.episodes()) {
    std::vector<Frame> past;  // in the order of time
    const std::int64_t end = episode.first_frame + episode.num_frames;
    for (std::int64_t first = episode.first_frame, count = 0; first < end; first += count) {
      count = file.frames_at_once(first, end);
      const auto frames = file.read_frames(first, count);
      add_moments(frames);
      for (std::size_t f = 0; f < static_cast<std::size_t>(frames.num_frames()); ++f) {
        Frame now = read_vehicles(frames, f);
        vehicles_.add(static_cast<double>(now.size()));
        compare(now, past);
        past.push_back(std::move(now));
        const auto horizon = static_cast<std::size_t>(options_.horizon_frames);
        if (past.size() > horizon) close(past[past.size() - 1 - horizon]);
        if (past.size() > keep_) past.erase(past.begin());
      }
    }
  }
}

void Statistics::add_moments(const PackedFrames& frames) {
  for (std::size_t i = 0; i < frames.node_features.size(); ++i) {
    nodes_[i % nodes_.size()].add(frames.node_features[i]);
  }
  for (std::size_t i = 0; i < frames.edge_features.size(); ++i) {
    edges_[i % edges_.size()].add(frames.edge_features[i]);
  }
}

Statistics::Frame Statistics::read_vehicles(const PackedFrames& frames, std::size_t frame) const {
  const auto column = [&](std::string_view name) {
    return static_cast<std::size_t>(feature_index(node_table_, name));
  };
  const std::size_t speed = column(kSpeedFeature);
  const std::size_t gap = column(kLeaderGapFeature);
  const std::size_t relative = column(kLeaderRelativeSpeedFeature);
  Frame vehicles;
  const auto end = static_cast<std::size_t>(frames.node_ptr[frame + 1]);
  for (auto row = static_cast<std::size_t>(frames.node_ptr[frame]); row < end; ++row) {
    const float* features = frames.node_features.data() + row * node_table_.size();
    const double closing_mps = -features[relative];
    std::uint32_t conflicts = 0;
    for (std::size_t i = 0; i < rates_.size(); ++i) {
      if (closing_mps > 0 && features[gap] < closing_mps * rates_[i].ttc_s) conflicts |= 1U << i;
    }
    vehicles.emplace(frames.vehicle_id[row],
                     Vehicle{frames.position_m[row], features[speed], conflicts, 0, false});
  }
  return vehicles;
}

/// Compares the vehicles of a frame with the same vehicles in earlier frames. Updates the labels of
/// the earlier frames and the errors of the constant-speed prediction.
/// @param past the frames before `now`, in the order of time
void Statistics::compare(const Frame& now, std::vector<Frame>& past) {
  for (std::size_t age = 1; age <= past.size(); ++age) {
    Frame& then = past[past.size() - age];
    const bool in_horizon = age <= static_cast<std::size_t>(options_.horizon_frames);
    const auto error = std::find_if(errors_.begin(), errors_.end(), [&](const auto& e) {
      return e.frames == static_cast<std::int64_t>(age);
    });
    if (!in_horizon && error == errors_.end()) continue;
    for (auto& [id, vehicle] : then) {
      const auto found = now.find(id);
      if (found == now.end()) continue;
      if (in_horizon) {
        vehicle.has_future = true;
        vehicle.ahead |= found->second.conflicts;
      }
      if (error == errors_.end()) continue;
      const double predicted = static_cast<double>(vehicle.speed_mps) * error->seconds;
      const double miss = found->second.position_m - vehicle.position_m - predicted;
      error->squares_m2 += miss * miss;
      ++error->count;
    }
  }
}

/// Counts the conflict labels of a frame. Call it after all frames of its horizon have been read.
void Statistics::close(const Frame& frame) {
  for (const auto& [id, vehicle] : frame) {
    if (!vehicle.has_future) continue;
    ++labelled_;
    for (std::size_t i = 0; i < rates_.size(); ++i) {
      if ((vehicle.ahead & (1U << i)) != 0) ++rates_[i].positive;
    }
  }
}

}  // namespace traffic::data
