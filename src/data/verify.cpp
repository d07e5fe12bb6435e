// Checks the whole content of a data set file (verify.h).
#include "traffic/data/verify.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "problems.h"
#include "traffic/core/hash.h"
#include "traffic/data/plausible.h"

namespace traffic::data {
namespace {

/// Decodes every chunk of a column and adds a problem for each damaged chunk.
/// @return the hash of the decoded bytes
std::uint64_t check_chunks(const DatasetReader& file, Column column, Problems& problems) {
  const ColumnStorage storage = file.storage(column);
  Hasher hash;
  std::vector<std::byte> bytes;
  for (std::int64_t row = 0; row < storage.rows; row += storage.chunk_rows) {
    const std::int64_t count = std::min(storage.chunk_rows, storage.rows - row);
    bytes.resize(static_cast<std::size_t>(count * storage.row_bytes));
    try {
      file.read_raw(column, row, count, bytes);
      hash.update(bytes);
    } catch (const DataError& error) {
      problems.add(error.what());
    }
  }
  return hash.digest();
}

void check_checksums(const DatasetReader& file, Problems& problems) {
  Hasher hash;
  for (const ColumnSpec& spec : column_specs()) {
    const std::array<std::uint64_t, 2> part{
        static_cast<std::uint64_t>(file.storage(spec.column).rows),
        check_chunks(file, spec.column, problems)};
    hash.update(std::as_bytes(std::span(part)));
  }
  if (!problems.any() && hash.digest() != file.info().content_hash) {
    problems.add(
        fmt::format("{}: the content has the hash {}, but the attribute content_xxh3 is {}",
                    file.path(), hex64(hash.digest()), hex64(file.info().content_hash)));
  }
}

/// Checks the frames of a file one after the other. It finds vehicles that occur twice in a frame,
/// and impossible speeds and movements. There may be thousands of occurrences, so it reports one
/// message for each kind of problem, with the first occurrence and the number of occurrences.
class MovementCheck {
 public:
  explicit MovementCheck(const DatasetReader& file)
      : file_(file),
        width_(file.info().node_features.size()),
        speed_(column(kSpeedFeature)),
        accel_(column(kAccelerationFeature)) {}

  void begin_episode(std::size_t episode) {
    episode_ = episode;
    before_.clear();
  }

  /// Checks frame f of `frames`. Call it for all frames of an episode in order.
  void check(const PackedFrames& frames, std::size_t f) {
    now_.clear();
    const Episode& episode = file_.episodes()[episode_];
    frame_ = frames.first_frame - episode.first_frame + static_cast<std::int64_t>(f);
    const auto end = static_cast<std::size_t>(frames.node_ptr[f + 1]);
    for (auto row = static_cast<std::size_t>(frames.node_ptr[f]); row < end; ++row) {
      const std::uint32_t id = frames.vehicle_id[row];
      const auto [entry, is_new] = now_.try_emplace(id);
      if (!is_new) {
        note(twice_, [&] { return fmt::format("vehicle {} occurs twice in the frame", id); });
        continue;
      }
      const float* features = frames.node_features.data() + row * width_;
      const auto before = before_.find(id);
      if (before != before_.end()) entry->second = before->second;
      check_numbers(id, features[speed_], features[accel_]);
      move(id, entry->second, before != before_.end(),
           {.position_m = frames.position_m[row],
            .x_m = frames.xy_m[2 * row],
            .y_m = frames.xy_m[2 * row + 1],
            .speed_mps = features[speed_]});
    }
    std::swap(before_, now_);
  }

  void report(Problems& problems) const {
    for (const Kind* kind : {&twice_, &speeds_, &accelerations_, &changes_, &jumps_}) {
      if (kind->count == 0) continue;
      const std::string others =
          kind->count > 1
              ? fmt::format("; this happens {} times in all (each vehicle counts in each frame)",
                            kind->count)
              : "";
      problems.add(fmt::format("{}: {}{}", file_.path(), kind->first, others));
    }
    report(position_ratio_, "distance covered (position_m)", kLargestPositionRatio, problems);
    report(plane_ratio_, "displacement in the plane (xy_m)", kLargestPlaneRatio, problems);
  }

 private:
  /// One kind of problem.
  struct Kind {
    std::int64_t count = 0;  ///< number of occurrences
    std::string first{};     ///< description of the first occurrence
  };
  /// Position and speed of a vehicle in one frame.
  struct Place {
    double position_m = 0;
    double x_m = 0;
    double y_m = 0;
    double speed_mps = 0;
  };
  struct State {
    Place place{};
    DisplacementRatio::Stretch along{};
    DisplacementRatio::Stretch in_plane{};
  };

  /// Limits of the ratio of displacements to the distances that follow from the speeds, and of its
  /// reciprocal. Wrong units give larger values. The limit for xy_m is wider, because a road
  /// network may draw a road longer or shorter than it is.
  static constexpr double kLargestPositionRatio = 1.4;
  static constexpr double kLargestPlaneRatio = 3;

  [[nodiscard]] std::size_t column(std::string_view name) const {
    return static_cast<std::size_t>(feature_index(file_.info().node_features, name));
  }

  template <typename Describe>
  void note(Kind& kind, const Describe& describe) {
    if (++kind.count > 1) return;
    const std::int64_t row = file_.episodes()[episode_].first_frame + frame_;
    kind.first = fmt::format("episode {}, frame {} at {:.6g} s: {}", episode_, frame_,
                             file_.read_times(row, 1).front(), describe());
  }

  void check_numbers(std::uint32_t id, double speed_mps, double accel_mps2) {
    // Simulators may write slightly negative speeds such as -0.01 m/s.
    if (speed_mps < -kStandingMps || speed_mps > kMaxSpeedMps) {
      note(speeds_, [&] {
        return fmt::format("vehicle {} has a speed of {:.6g} m/s, expected 0 to {}", id, speed_mps,
                           kMaxSpeedMps);
      });
    }
    if (!is_possible_acceleration(accel_mps2, speed_mps)) {
      note(accelerations_, [&] {
        return fmt::format(
            "vehicle {} has an acceleration of {:.6g} m/s2, expected at most {} either way", id,
            accel_mps2, kMaxAccelerationMps2);
      });
    }
  }

  void move(std::uint32_t id, State& state, bool was_there, const Place& now) {
    const double seconds = file_.info().frame_interval_s;
    const Place before = std::exchange(state.place, now);
    if (was_there) {
      if (!is_possible_acceleration((now.speed_mps - before.speed_mps) / seconds, now.speed_mps)) {
        note(changes_, [&] {
          return fmt::format("vehicle {} goes from {:.6g} to {:.6g} m/s within {:.6g} s", id,
                             before.speed_mps, now.speed_mps, seconds);
        });
      }
      const double moved_m = std::abs(now.position_m - before.position_m);
      if (seconds <= kLongestComparedStepS &&
          moved_m > reach_m(std::max(now.speed_mps, before.speed_mps), seconds)) {
        note(jumps_, [&] {
          return fmt::format(
              "vehicle {} covers {:.6g} m in {:.6g} s with speeds of {:.6g} and {:.6g} m/s", id,
              moved_m, seconds, before.speed_mps, now.speed_mps);
        });
      }
    } else {
      state = {.place = now};
    }
    (void)position_ratio_.move(state.along, {now.position_m, 0}, now.speed_mps, seconds);
    (void)plane_ratio_.move(state.in_plane, {now.x_m, now.y_m}, now.speed_mps, seconds);
  }

  void report(const DisplacementRatio& ratio, const char* what, double largest,
              Problems& problems) const {
    const auto median = ratio.median();
    if (!median || is_possible_ratio(*median, file_.info().frame_interval_s, largest)) return;
    const std::string unit = likely_unit(*median);
    problems.add(fmt::format(
        "{}: the {} is {:.3g} times the distance that follows from the speeds (median of {} "
        "stretches of 20 m){}{}; expected metres and m/s",
        file_.path(), what, *median, ratio.num_stretches(), unit.empty() ? "" : ": ", unit));
  }

  const DatasetReader& file_;
  std::size_t width_;
  std::size_t speed_;
  std::size_t accel_;
  std::size_t episode_ = 0;
  std::int64_t frame_ = 0;  ///< number within the episode
  std::unordered_map<std::uint32_t, State> before_;
  std::unordered_map<std::uint32_t, State> now_;
  Kind twice_;
  Kind speeds_;
  Kind accelerations_;
  Kind changes_;  ///< changes of the speed between two frames
  Kind jumps_;
  DisplacementRatio position_ratio_;
  DisplacementRatio plane_ratio_;
};

void check_frames(const DatasetReader& file, const std::function<void(std::int64_t)>& progress,
                  Problems& problems) {
  MovementCheck movements(file);
  for (std::size_t e = 0; e < file.episodes().size(); ++e) {
    const Episode& episode = file.episodes()[e];
    const std::int64_t end = episode.first_frame + episode.num_frames;
    movements.begin_episode(e);
    for (std::int64_t frame = episode.first_frame, count = 0; frame < end; frame += count) {
      count = file.frames_at_once(frame, end);
      try {
        const PackedFrames frames = file.read_frames(frame, count);
        for (std::size_t f = 0; f < static_cast<std::size_t>(count); ++f) {
          movements.check(frames, f);
        }
      } catch (const DataError& error) {
        problems.add(error.what());
      }
      progress(count);
    }
  }
  movements.report(problems);
}

void check_global_features(const DatasetReader& file, Problems& problems) {
  constexpr std::int64_t kRows = 4096;
  std::vector<float> values;
  for (std::int64_t first = 0; first < file.num_frames(); first += kRows) {
    const std::int64_t count = std::min(kRows, file.num_frames() - first);
    values.resize(static_cast<std::size_t>(count) * kNumGlobalFeatures);
    file.read_raw(Column::kFrameGlobalFeatures, first, count,
                  std::as_writable_bytes(std::span(values)));
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isfinite(values[i])) continue;
      problems.add(fmt::format("{}: column frames/global_features: frame {} has {} at index {}",
                               file.path(),
                               first + static_cast<std::int64_t>(i / kNumGlobalFeatures), values[i],
                               i % kNumGlobalFeatures));
    }
  }
}

void check_times(const DatasetReader& file, Problems& problems) {
  const double interval = file.info().frame_interval_s;
  for (std::size_t e = 0; e < file.episodes().size(); ++e) {
    const Episode& episode = file.episodes()[e];
    const auto times = file.read_times(episode.first_frame, episode.num_frames);
    for (std::size_t i = 1; i < times.size(); ++i) {
      // The last bits of a time are inexact, because times are sums of steps or differences of
      // absolute times.
      const double rounding_s = 8 * std::numeric_limits<double>::epsilon() * std::abs(times[i]);
      if (std::abs(times[i] - times[i - 1] - interval) > 1e-3 * interval + rounding_s) {
        problems.add(
            fmt::format("{}: episode {}: frame {} is at {} s, {:.6g} s after the previous one, "
                        "expected {:.6g} s",
                        file.path(), e, i, times[i], times[i] - times[i - 1], interval));
        break;
      }
    }
  }
}

}  // namespace

std::vector<std::string> find_problems(const DatasetReader& file,
                                       const std::function<void(std::int64_t)>& progress) {
  Problems problems;
  check_checksums(file, problems);
  if (problems.any()) return problems.take();  // checking damaged values would be meaningless
  check_times(file, problems);
  check_frames(file, progress, problems);
  check_global_features(file, problems);
  return problems.take();
}

}  // namespace traffic::data
