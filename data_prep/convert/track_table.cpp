#include "track_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "traffic/core/text.h"

namespace traffic::data_prep {
namespace {

struct Axis {
  double x;
  double y;
};
/// The unit vectors of the headings, in the order of Heading.
constexpr std::array<Axis, 4> kAxes{{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};

bool is_same_moment(const TrackRow& a, const TrackRow& b) {
  return a.track == b.track && a.tick == b.tick;
}

bool has_same_content(const TrackRow& a, const TrackRow& b) {
  return a.x_m == b.x_m && a.y_m == b.y_m && a.speed_mps == b.speed_mps &&
         a.accel_mps2 == b.accel_mps2 && a.lane == b.lane && a.road == b.road;
}

}  // namespace

void TrackTable::sort_by_track(const std::string& file, InputProblems& problems) {
  std::sort(rows.begin(), rows.end(), [](const TrackRow& a, const TrackRow& b) {
    if (a.track != b.track) return a.track < b.track;
    return a.tick != b.tick ? a.tick < b.tick : a.line < b.line;
  });
  std::size_t kept = 0;
  for (const TrackRow& row : rows) {
    if (kept == 0 || !is_same_moment(rows[kept - 1], row)) {
      rows[kept++] = row;
    } else if (has_same_content(rows[kept - 1], row)) {
      ++repeated_rows;
    } else {
      problems.report(file, row.line,
                      fmt::format("vehicle '{}' is listed twice at the same time (also in line {})",
                                  tracks[row.track].name, rows[kept - 1].line));
    }
  }
  rows.resize(kept);
}

bool TrackTable::play(const std::function<LanePlace(const TrackRow&)>& lane_of,
                      const FrameSink& sink) {
  std::sort(rows.begin(), rows.end(), [](const TrackRow& a, const TrackRow& b) {
    return a.tick != b.tick ? a.tick < b.tick : a.track < b.track;
  });
  RecordedFrame frame;
  for (std::size_t i = 0; i < rows.size();) {
    frame.clear();
    const std::int64_t tick = rows[i].tick;
    frame.begins_stretch = i == 0;
    frame.time_s = static_cast<double>(tick - rows.front().tick) * tick_s;
    frame.clock_s = static_cast<double>(rows.front().tick) * tick_s;
    frame.line = rows[i].line;
    for (; i < rows.size() && rows[i].tick == tick; ++i) {
      const TrackRow& row = rows[i];
      const Track& track = tracks[row.track];
      const Axis axis = kAxes[static_cast<std::size_t>(row.heading)];
      const LanePlace lane = lane_of(row);
      frame.vehicles.push_back({.name = frame.keep(track.name),
                                .type = frame.keep(track.type),
                                .lane = frame.keep(lane.name),
                                .lane_index = lane.index,
                                .lane_pos_m = axis.x * row.x_m + axis.y * row.y_m,
                                .x_m = row.x_m,
                                .y_m = row.y_m,
                                .heading_x = axis.x,
                                .heading_y = axis.y,
                                .speed_mps = row.speed_mps,
                                .accel_mps2 = row.accel_mps2,
                                .length_m = track.length_m,
                                .speed_limit_mps = track.speed_limit_mps,
                                .line = row.line});
    }
    if (!sink(frame)) return false;
  }
  return true;
}

std::string repeated_rows_remark(std::int64_t rows) {
  return rows == 0 ? "" : fmt::format("; dropped {}, as others say the same", counted(rows, "row"));
}

}  // namespace traffic::data_prep
