#include "traffic/data/statistics.h"

#include <algorithm>
#include <cmath>

#include "traffic/core/error.h"

namespace traffic::data {
namespace {

constexpr std::int64_t kFramesAtOnce = 64;

}  // namespace

void Moments::add(double value) {
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = count_ == 0 ? value : std::max(max_, value);
  ++count_;
  const double delta = value - mean_;
  mean_ += delta / static_cast<double>(count_);
  squares_ += delta * (value - mean_);
}

double Moments::standard_deviation() const {
  return count_ > 1 ? std::sqrt(squares_ / static_cast<double>(count_ - 1)) : 0.0;
}

double ConstantSpeedError::rmse_m() const {
  return count > 0 ? std::sqrt(squares_m2 / static_cast<double>(count)) : 0.0;
}

void Statistics::prepare(const DatasetReader& file) {
  const FileInfo& info = file.info();
  if (!node_table_.empty()) {
    if (info.node_features != node_table_ || info.edge_features != edge_table_ ||
        info.frame_interval_s != interval_s_) {
      throw DataError(
          "{} has other features or another frame interval than the files before it; "
          "ask for the statistics of files of one kind",
          file.path());
    }
    return;
  }
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
    std::vector<Frame> past;  // the latest last
    for (std::int64_t done = 0; done < episode.num_frames; done += kFramesAtOnce) {
      const auto frames = file.read_frames(episode.first_frame + done,
                                           std::min(kFramesAtOnce, episode.num_frames - done));
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

/// @param past frames before `now`, the latest last
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

/// A frame whose whole horizon has been seen.
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
