// Reads recordings of the highD data set (German motorways, filmed from above).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <unordered_map>
#include <utility>

#include "csv_reader.h"
#include "formats.h"
#include "track_table.h"
#include "traffic/core/error.h"

namespace traffic::data_prep {
namespace {

constexpr std::string_view kTracks = "tracks.csv";
constexpr double kMostFrames = 1e9;
constexpr double kMostLanes = 1e6;
constexpr double kLowestFrameRate = 0.1;
constexpr double kHighestFrameRate = 1000;
/// Maximum plausible speed limit in m/s. A limit that was written in km/h usually exceeds it.
constexpr double kHighestLimitMps = 60;

/// The file in the same folder whose name ends with `ending` instead of "tracks.csv".
std::string sibling(const std::string& path, std::string_view ending) {
  if (!path.ends_with(kTracks)) {
    throw DataError(
        "{}: expected the NN_tracks.csv of a highD recording; NN_tracksMeta.csv and "
        "NN_recordingMeta.csv must be in the same folder",
        path);
  }
  const std::string other = path.substr(0, path.size() - kTracks.size()) + std::string(ending);
  if (!std::filesystem::exists(other)) {
    throw DataError("{}: {} is missing; copy all three files of the recording into one folder",
                    path, other);
  }
  return other;
}

class HighD final : public Recording {
 public:
  HighD(const std::string& path, std::unique_ptr<TextInput> input, InputProblems& problems)
      : input_(std::move(input)), problems_(problems) {
    read_recording_meta(sibling(path, "recordingMeta.csv"));
    read_tracks_meta(sibling(path, "tracksMeta.csv"));
  }

  void read(const FrameSink& sink) override {
    read_tracks();
    // Lane numbers grow from the top of the picture to the bottom. Index 0 of our lanes is the
    // right-hand lane in the direction of travel: the one with the largest number for vehicles
    // that drive towards the right edge of the picture, and the one with the smallest number for
    // the others.
    int first_up = std::numeric_limits<int>::max();
    int last_down = 0;
    const auto drives_right = [](const TrackRow& row) { return row.heading == Heading::kEast; };
    for (const TrackRow& row : table_.rows) {
      if (drives_right(row)) {
        last_down = std::max(last_down, row.lane);
      } else {
        first_up = std::min(first_up, row.lane);
      }
    }
    table_.sort_by_track(input_->name(), problems_);
    table_.play(
        [&](const TrackRow& row) {
          return LanePlace{std::to_string(row.lane),
                           drives_right(row) ? last_down - row.lane : row.lane - first_up};
        },
        sink);
  }

  [[nodiscard]] double share_read() const override { return input_->share_read(); }
  [[nodiscard]] double largest_speed_error() const override { return kComputedSpeedError; }
  [[nodiscard]] std::string remark() const override {
    return fmt::format(
        "highD: positions are front bumpers, computed from bounding boxes; the y axis points up{}",
        repeated_rows_remark(table_.repeated_rows));
  }

 private:
  void read_recording_meta(const std::string& path) {
    TextInput input(path);
    CsvReader meta(input, problems_);
    const int rate = meta.require({"frameRate"}, "Hz");
    const int limit = meta.find({"speedLimit"}, "m/s");
    if (!meta.next()) throw DataError("{}: has a header and no row", path);
    const double frames_per_s = meta.number(rate);
    if (!(frames_per_s >= kLowestFrameRate && frames_per_s <= kHighestFrameRate)) {
      throw DataError("{}:{}: frameRate is '{}', expected {} to {} Hz", path, meta.line(),
                      meta.text(rate), kLowestFrameRate, kHighestFrameRate);
    }
    table_.tick_s = 1 / frames_per_s;
    speed_limit_mps_ = meta.number(limit, true);
    if (!(speed_limit_mps_ > 0)) speed_limit_mps_ = kUnknown;  // highD writes -1 for no limit
    if (speed_limit_mps_ > kHighestLimitMps) {
      throw DataError("{}:{}: speedLimit is {}, expected at most {} m/s; the value may be in km/h",
                      path, meta.line(), meta.text(limit), kHighestLimitMps);
    }
  }

  void read_tracks_meta(const std::string& path) {
    TextInput input(path);
    CsvReader meta(input, problems_);
    const int id = meta.require({"id"});
    const int width = meta.require({"width"}, "m");
    const int direction = meta.require({"drivingDirection"});
    const int type = meta.find({"class"});
    while (meta.next()) {
      const double length = meta.number(width);
      const double way = meta.number(direction);
      const std::string name(meta.text(id));
      if (way != 1 && way != 2) {
        problems_.report(path, meta.line(),
                         fmt::format("vehicle '{}': drivingDirection is '{}', expected 1 or 2",
                                     name, meta.text(direction)));
        continue;
      }
      if (!index_.emplace(name, static_cast<std::uint32_t>(table_.tracks.size())).second) {
        problems_.report(path, meta.line(), fmt::format("vehicle '{}' is listed twice", name));
        continue;
      }
      table_.tracks.push_back({.name = name,
                               .type = std::string(meta.text(type)),
                               .length_m = length,
                               .speed_limit_mps = speed_limit_mps_});
      drives_right_.push_back(way == 2);
    }
  }

  void read_tracks() {
    CsvReader rows(*input_, problems_);
    const int frame = rows.require({"frame"});
    const int id = rows.require({"id"});
    const int x = rows.require({"x"}, "m");
    const int y = rows.require({"y"}, "m");
    const int width = rows.require({"width"}, "m");
    const int height = rows.require({"height"}, "m");
    const int vx = rows.require({"xVelocity"}, "m/s");
    const int vy = rows.require({"yVelocity"}, "m/s");
    const int ax = rows.require({"xAcceleration"}, "m/s2");
    const int lane = rows.require({"laneId"});
    while (rows.next()) {
      const auto before = problems_.count();
      const double tick = rows.whole_number(frame, -kMostFrames, kMostFrames);
      const double left = rows.number(x);
      const double top = rows.number(y);
      const double length = rows.number(width);
      const double breadth = rows.number(height);
      const double speed = std::hypot(rows.number(vx), rows.number(vy));
      const double accel = rows.number(ax);
      const double lane_id = rows.whole_number(lane, 0, kMostLanes);
      if (problems_.count() != before) continue;
      const auto found = index_.find(std::string(rows.text(id)));
      if (found == index_.end()) {
        problems_.report(input_->name(), rows.line(),
                         fmt::format("vehicle '{}' is not in tracksMeta.csv", rows.text(id)));
        continue;
      }
      const double way = drives_right_[found->second] ? 1 : -1;
      const double front = way > 0 ? left + length : left;
      table_.rows.push_back({.tick = static_cast<std::int64_t>(tick),
                             .track = found->second,
                             .line = static_cast<std::uint32_t>(rows.line()),
                             .x_m = static_cast<float>(front),
                             .y_m = static_cast<float>(-(top + breadth / 2)),
                             .speed_mps = static_cast<float>(speed),
                             .accel_mps2 = static_cast<float>(way * accel),
                             .lane = static_cast<std::int32_t>(lane_id),
                             .heading = way > 0 ? Heading::kEast : Heading::kWest});
    }
  }

  std::unique_ptr<TextInput> input_;
  InputProblems& problems_;
  TrackTable table_;
  std::unordered_map<std::string, std::uint32_t> index_;
  std::vector<bool> drives_right_;  ///< [tracks] whether the vehicle drives towards the right edge
  double speed_limit_mps_ = kUnknown;
};

}  // namespace

std::unique_ptr<Recording> read_highd(const std::string& path, std::unique_ptr<TextInput> input,
                                      InputProblems& problems) {
  return std::make_unique<HighD>(path, std::move(input), problems);
}

}  // namespace traffic::data_prep
