/// walk() reads a recording, checks its times and vehicles, and passes its frames to a Visitor. The
/// frames come at equal intervals (steps); after a gap a new stretch begins.
#pragma once

#include <cstdint>
#include <string>

#include "motion_check.h"
#include "recording.h"

namespace traffic::data_prep {

/// Receives the frames of a recording that walk() reads.
class Visitor {
 public:
  virtual ~Visitor() = default;
  /// Begins a stretch, a sequence of frames at equal intervals. walk() calls it at the start, after
  /// every gap in the times, and when another place or day begins. No vehicle continues into the
  /// new stretch.
  virtual void begin_stretch(double step_s) = 0;
  /// @param time_s time since the start of the stretch. As in a simulation, the start is one step
  ///   before the first frame
  virtual void visit(const RecordedFrame& frame, double time_s) = 0;
};

struct WalkResult {
  double step_s = 0;  ///< length of a step; 0 if there are fewer than two frames
  std::int64_t frames = 0;
  std::int64_t gaps = 0;  ///< number of gaps in the times; changes of place or day do not count
  /// Number of times that a vehicle was at a place that it cannot have driven to.
  std::int64_t jumps = 0;
};

/// Reads the recording in a thread of its own. Reports times that do not grow or lie between steps,
/// and vehicles with impossible numbers (motion_check.h).
/// @param file name of the recording, for messages
/// @throws DataError for the first problem if problems are not skipped. Also if displacements
///   contradict speeds or headings in the whole recording
/// @throws Error with ExitCode::kStopped when a stop is requested
WalkResult walk(Recording& recording, const std::string& file, Places places,
                InputProblems& problems, Visitor& visitor);

}  // namespace traffic::data_prep
