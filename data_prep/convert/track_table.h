/// Sorts trajectories, which the source lists vehicle by vehicle, by time.
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
  std::int64_t tick = 0;    ///< time in units of the source
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

struct Track {
  std::string name;
  std::string type;
  double length_m = kUnknown;
  double speed_limit_mps = kUnknown;
};

/// The lane of a row.
struct LanePlace {
  std::string name;
  int index = 0;  ///< 0 is the rightmost
};

/// Holds all rows in memory, 40 bytes each, because the source lists vehicle by vehicle.
struct TrackTable {
  std::vector<Track> tracks;
  std::vector<TrackRow> rows;
  double tick_s = 0.1;
  std::int64_t repeated_rows = 0;  ///< dropped by sort_by_track()

  /// Sorts the rows by track and time. Drops rows that repeat another one; reports rows that put a
  /// vehicle in two places at once, and drops the later one.
  void sort_by_track(const std::string& file, InputProblems& problems);
  /// Hands over frames in the order of time, as one stretch whose first frame is at 0 s. Changes
  /// the order of the rows.
  /// @return false if the sink wants no more
  bool play(const std::function<LanePlace(const TrackRow&)>& lane_of, const FrameSink& sink);
};

/// The last part of a remark on a source: "; 12 rows that repeat others were dropped", or empty.
[[nodiscard]] std::string repeated_rows_remark(std::int64_t rows);

}  // namespace traffic::data_prep
