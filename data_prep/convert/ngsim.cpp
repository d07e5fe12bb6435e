#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "csv_reader.h"
#include "formats.h"
#include "track_table.h"
#include "traffic/core/error.h"

namespace traffic::data_prep {
namespace {

constexpr double kFootM = 0.3048;
constexpr double kTickS = 0.1;
constexpr double kLargest = 1e15;  ///< of times in ms and numbers of frames: no recording has them
constexpr double kLargestLane = 1e6;
/// Accelerations are differences of noisy positions, twice: their mean over this time is kept,
/// weighted by exp(-|dt| / 1 s).
constexpr double kSmoothingS = 1.0;
constexpr int kSmoothingTicks = 30;

struct NgsimColumns {
  explicit NgsimColumns(const CsvReader& table)
      : vehicle(table.require({"Vehicle_ID"})),
        frame(table.find({"Frame_ID"})),
        total_frames(table.find({"Total_Frames"})),
        time(table.find({"Global_Time"})),
        across(table.require({"Local_X"})),
        along(table.require({"Local_Y"})),
        length(table.find({"v_Length"})),
        type(table.find({"v_Class"})),
        speed(table.require({"v_Vel", "v_Velocity"})),
        accel(table.find({"v_Acc", "v_Acceleration"})),
        lane(table.require({"Lane_ID"})),
        location(table.find({"Location"})) {
    if (frame < 0) time = table.require({"Global_Time"});
  }
  int vehicle, frame, total_frames, time, across, along, length, type, speed, accel, lane, location;
};

class Ngsim final : public Recording {
 public:
  Ngsim(std::unique_ptr<TextInput> input, InputProblems& problems)
      : input_(std::move(input)),
        problems_(problems),
        table_(*input_, problems),
        columns_(table_) {}

  void read(const FrameSink& sink) override {
    while (table_.next()) take_row();
    for (auto& [name, location] : locations_) {
      smooth(location.rows);
      // Lanes are numbered from the left.
      int last_lane = 0;
      for (const TrackRow& row : location.rows) last_lane = std::max(last_lane, row.lane);
      bool wanted = true;
      location.play(
          input_->name(), problems_, [&](const TrackRow& row) { return last_lane - row.lane; },
          [&](RecordedFrame& frame) { return wanted = sink(frame); });
      if (!wanted) return;
    }
  }

  [[nodiscard]] double share_read() const override { return input_->share_read(); }
  [[nodiscard]] std::string remark() const override {
    if (columns_.accel < 0) return "";
    return fmt::format(
        "NGSIM: feet converted to metres; accelerations smoothed over {} s, speeds and positions "
        "as "
        "they stand",
        kSmoothingS);
  }

 private:
  struct Location : TrackTable {
    std::unordered_map<std::string, std::uint32_t> index;
  };

  [[nodiscard]] std::int64_t tick() const {
    // Frames are numbered anew in every period of a location, times are not.
    if (columns_.time >= 0) return std::llround(table_.number(columns_.time) / (1000 * kTickS));
    return std::llround(table_.number(columns_.frame));
  }

  Location& location() {
    const std::string name(table_.text(columns_.location));
    const auto found = std::find_if(locations_.begin(), locations_.end(),
                                    [&](const auto& item) { return item.first == name; });
    if (found != locations_.end()) return found->second;
    locations_.emplace_back(name, Location{});
    locations_.back().second.tick_s = kTickS;
    return locations_.back().second;
  }

  void take_row() {
    const auto before = problems_.count();
    const double moment = table_.number(columns_.time >= 0 ? columns_.time : columns_.frame);
    const double across = table_.number(columns_.across);
    const double along = table_.number(columns_.along);
    const double speed = table_.number(columns_.speed);
    const double accel = table_.number(columns_.accel, true);
    const double lane = table_.number(columns_.lane);
    const double length = table_.number(columns_.length, true);
    if (problems_.count() != before || std::isnan(moment)) return;
    if (std::abs(moment) > kLargest || std::abs(lane) > kLargestLane) {
      problems_.report(input_->name(), table_.line(),
                       fmt::format("found time {} and lane {}, expected no more than {} and {}",
                                   moment, lane, kLargest, kLargestLane));
      return;
    }
    Location& where = location();
    // The same number is given to several vehicles: those have other numbers of frames.
    const std::string name =
        fmt::format("{}.{}", table_.text(columns_.vehicle), table_.text(columns_.total_frames));
    const auto [found, is_new] =
        where.index.emplace(name, static_cast<std::uint32_t>(where.tracks.size()));
    if (is_new) {
      where.tracks.push_back({.name = name,
                              .type = std::string(table_.text(columns_.type)),
                              .length_m = length * kFootM,
                              .heading_x = 0,
                              .heading_y = 1});
    }
    where.rows.push_back({.tick = tick(),
                          .track = found->second,
                          .line = static_cast<std::uint32_t>(table_.line()),
                          .along_m = static_cast<float>(along * kFootM),
                          .x_m = static_cast<float>(across * kFootM),
                          .y_m = static_cast<float>(along * kFootM),
                          .speed_mps = static_cast<float>(speed * kFootM),
                          .accel_mps2 = static_cast<float>(accel * kFootM),
                          .lane = static_cast<std::int32_t>(lane)});
  }

  /// Of every vehicle, over rows that follow each other at one tick.
  static void smooth(std::vector<TrackRow>& rows) {
    std::sort(rows.begin(), rows.end(), [](const TrackRow& a, const TrackRow& b) {
      return a.track != b.track ? a.track < b.track : a.tick < b.tick;
    });
    std::vector<float> smoothed(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      double sum = 0;
      double weights = 0;
      const auto add = [&](std::size_t j) {
        const auto ticks = rows[j].tick - rows[i].tick;
        if (rows[j].track != rows[i].track || std::abs(ticks) > kSmoothingTicks) return false;
        const double weight =
            std::exp(-std::abs(static_cast<double>(ticks)) * kTickS / kSmoothingS);
        sum += weight * static_cast<double>(rows[j].accel_mps2);
        weights += weight;
        return true;
      };
      for (std::size_t j = i; j < rows.size() && add(j); ++j) {
      }
      for (std::size_t j = i; j-- > 0 && add(j);) {
      }
      smoothed[i] = static_cast<float>(sum / weights);
    }
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].accel_mps2 = smoothed[i];
  }

  std::unique_ptr<TextInput> input_;
  InputProblems& problems_;
  CsvReader table_;
  NgsimColumns columns_;
  std::vector<std::pair<std::string, Location>> locations_;
};

}  // namespace

std::unique_ptr<Recording> read_ngsim(std::unique_ptr<TextInput> input, InputProblems& problems) {
  return std::make_unique<Ngsim>(std::move(input), problems);
}

}  // namespace traffic::data_prep
