#include "track_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace traffic::data_prep {

void TrackTable::play(const std::string& file, InputProblems& problems,
                      const std::function<int(const TrackRow&)>& lane_index,
                      const FrameSink& sink) {
  std::sort(rows.begin(), rows.end(), [](const TrackRow& a, const TrackRow& b) {
    if (a.tick != b.tick) return a.tick < b.tick;
    return a.track != b.track ? a.track < b.track : a.line < b.line;
  });
  RecordedFrame frame;
  for (std::size_t i = 0; i < rows.size();) {
    frame.clear();
    const std::size_t first = i;
    frame.time_s = static_cast<double>(rows[i].tick) * tick_s;
    frame.line = rows[i].line;
    for (; i < rows.size() && rows[i].tick == rows[first].tick; ++i) {
      const TrackRow& row = rows[i];
      const Track& track = tracks[row.track];
      if (i > first && rows[i - 1].track == row.track) {
        problems.report(file, row.line,
                        fmt::format("vehicle '{}' stands twice at the same time (also in line {})",
                                    track.name, rows[i - 1].line));
        continue;
      }
      frame.vehicles.push_back({.name = frame.keep(track.name),
                                .type = frame.keep(track.type),
                                .lane = frame.keep(std::to_string(row.lane)),
                                .lane_index = lane_index(row),
                                .lane_pos_m = row.along_m,
                                .x_m = row.x_m,
                                .y_m = row.y_m,
                                .heading_x = track.heading_x,
                                .heading_y = track.heading_y,
                                .speed_mps = row.speed_mps,
                                .accel_mps2 = row.accel_mps2,
                                .length_m = track.length_m,
                                .speed_limit_mps = track.speed_limit_mps,
                                .line = row.line});
    }
    if (!sink(frame)) return;
  }
}

}  // namespace traffic::data_prep
