/// Goes through a recording in steps of equal length.
#pragma once

#include <cstdint>
#include <string>

#include "recording.h"

namespace traffic::data_prep {

/// What happens on the way.
class Visitor {
 public:
  virtual ~Visitor() = default;
  /// At the start and after every gap in the times: nothing from before goes on.
  virtual void begin_stretch(double step_s) = 0;
  /// @param time_s since the start of the stretch, which is a step before its first frame: a
  /// simulation, too, has made a step before there is something to see
  virtual void visit(const RecordedFrame& frame, double time_s) = 0;
};

struct WalkResult {
  double step_s = 0;  ///< 0: less than two frames
  std::int64_t frames = 0;
  std::int64_t gaps = 0;
};

/// Reads in a thread of its own. @param file for messages
/// @throws DataError for times that do not grow, or come between steps; Error when a stop is
/// requested
WalkResult walk(Recording& recording, const std::string& file, InputProblems& problems,
                Visitor& visitor);

}  // namespace traffic::data_prep
