/// Trajectories that are stored vehicle by vehicle, put into the order of time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "recording.h"

namespace traffic::data_prep {

/// A vehicle at one moment, in metres and seconds.
struct TrackRow {
  std::int64_t tick = 0;    ///< of time, in units of the source
  std::uint32_t track = 0;  ///< index into TrackTable::tracks
  std::uint32_t line = 0;
  float along_m = 0;  ///< where it drives to
  float x_m = 0;
  float y_m = 0;
  float speed_mps = 0;
  float accel_mps2 = 0;
  std::int32_t lane = 0;
};

struct Track {
  std::string name;
  std::string type;
  double length_m = kUnknown;
  double speed_limit_mps = kUnknown;
  double heading_x = 1;
  double heading_y = 0;
};

/// Holds all rows in memory, 40 bytes each, because the source lists vehicle by vehicle.
struct TrackTable {
  std::vector<Track> tracks;
  std::vector<TrackRow> rows;
  double tick_s = 0.1;

  /// Gives frames in the order of time. @param lane_index of a row, 0 is the rightmost
  void play(const std::string& file, InputProblems& problems,
            const std::function<int(const TrackRow&)>& lane_index, const FrameSink& sink);
};

}  // namespace traffic::data_prep
