/// TrackTable sorts the rows of a recording by time. The readers of NGSIM and highD use it, because
/// these recordings list the trajectories vehicle by vehicle.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "recording.h"

namespace traffic::data_prep {

/// The direction in which a vehicle drives, rounded to an axis of the plane.
enum class Heading : std::uint8_t { kEast, kNorth, kWest, kSouth };

/// A vehicle at one moment, in metres and seconds.
struct TrackRow {
  std::int64_t tick = 0;    ///< time in units of TrackTable::tick_s
  std::uint32_t track = 0;  ///< index into TrackTable::tracks
  std::uint32_t line = 0;
  float x_m = 0;
  float y_m = 0;
  float speed_mps = 0;
  float accel_mps2 = 0;
  std::int32_t lane = 0;
  std::uint16_t road = 0;  ///< distinguishes equal lane numbers of several roads
  Heading heading = Heading::kEast;
};

/// The properties of one vehicle.
struct Track {
  std::string name;
  std::string type;
  double length_m = kUnknown;
  double speed_limit_mps = kUnknown;
};

/// The lane of a row.
struct LanePlace {
  std::string name;
  int index = 0;  ///< 0 is the rightmost lane
};

/// Keeps all rows in memory, 40 bytes each.
struct TrackTable {
  std::vector<Track> tracks;
  std::vector<TrackRow> rows;
  double tick_s = 0.1;             ///< length of a tick in seconds
  std::int64_t repeated_rows = 0;  ///< number of rows that sort_by_track() has dropped

  /// Sorts the rows by track and time. Drops rows that repeat another row. If two rows put a
  /// vehicle in two places at the same time, reports and drops the later row.
  void sort_by_track(const std::string& file, InputProblems& problems);
  /// Passes all frames to the sink in the order of time, as one stretch whose first frame is at 0
  /// s. Changes the order of the rows.
  /// @return false if the sink has stopped the reading
  bool play(const std::function<LanePlace(const TrackRow&)>& lane_of, const FrameSink& sink);
};

/// A text to append to Recording::remark(), e.g. "; 12 rows that repeat others were dropped". Empty
/// if no rows were dropped.
[[nodiscard]] std::string repeated_rows_remark(std::int64_t rows);

}  // namespace traffic::data_prep
