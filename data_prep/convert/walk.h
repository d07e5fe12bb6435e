/// Goes through a recording in steps of equal length.
#pragma once

#include <cstdint>
#include <string>

#include "motion_check.h"
#include "recording.h"

namespace traffic::data_prep {

/// Receives the frames of a recording.
class Visitor {
 public:
  virtual ~Visitor() = default;
  /// Begins a stretch: called at the start, at another place or day, and after every gap in the
  /// times. No vehicle continues into the new stretch.
  virtual void begin_stretch(double step_s) = 0;
  /// @param time_s since the start of the stretch, which is one step before its first frame, as in
  /// a simulation
  virtual void visit(const RecordedFrame& frame, double time_s) = 0;
};

struct WalkResult {
  double step_s = 0;  ///< the most frequent difference of times; 0: fewer than two frames
  std::int64_t frames = 0;
  std::int64_t gaps = 0;   ///< number of gaps in the times, without changes of place or day
  std::int64_t jumps = 0;  ///< number of moves that a vehicle cannot have made by driving
};

/// Reads the recording in a thread of its own and checks times and vehicles. Reports times that do
/// not grow or lie between steps, and impossible vehicles.
/// @param file for messages
/// @throws DataError for the first problem unless they are skipped; for displacements that
/// contradict the speeds
/// @throws Error when a stop is requested
WalkResult walk(Recording& recording, const std::string& file, Places places,
                InputProblems& problems, Visitor& visitor);

}  // namespace traffic::data_prep
