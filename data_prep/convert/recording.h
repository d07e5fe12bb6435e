/// Recording: the interface of the readers of all formats. A reader yields the recorded traffic as
/// frames (all vehicles at one time) in the order of time.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

namespace traffic::data_prep {

/// Stands for a number that the recording does not contain.
inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
/// Value of Recording::largest_speed_error() for formats whose speeds were computed from positions.
/// It is below 1.097, the factor between km/h and ft/s, so that a recording with km/h in place of
/// ft/s is detected.
inline constexpr double kComputedSpeedError = 1.08;

/// The place of a name in RecordedFrame::text.
struct TextPart {
  std::uint32_t begin = 0;
  std::uint32_t size = 0;
};

/// A vehicle at one moment, in metres and seconds. If the recording does not state a value, a
/// number is kUnknown and a text is empty.
struct RecordedVehicle {
  TextPart name{};
  TextPart type{};
  TextPart lane{};      ///< name of the lane in the recording
  int lane_index = -1;  ///< 0 is the rightmost lane; -1: the name of the lane ends with its
                        ///< index, after a '_'
  double lane_pos_m = kUnknown;  ///< position of the front bumper along the lane
  double x_m = kUnknown;         ///< position of the front bumper
  double y_m = kUnknown;
  double heading_x = kUnknown;  ///< unit vector (heading_x, heading_y)
  double heading_y = kUnknown;
  double speed_mps = kUnknown;
  double accel_mps2 = kUnknown;
  double length_m = kUnknown;
  double speed_limit_mps = kUnknown;
  TextPart leader{};  ///< name of the vehicle ahead
  double leader_gap_m = kUnknown;
  std::int64_t line = 0;  ///< line of the input, for messages
  /// Whether the vehicle cannot have driven here from its last position. For example, simulators
  /// move vehicles out of jams. MotionCheck sets it.
  bool jumped = false;

  /// @param degrees clockwise from north, as SUMO writes angles
  void set_angle(double degrees) {
    const double radians = degrees * (std::numbers::pi / 180);
    heading_x = std::sin(radians);
    heading_y = std::cos(radians);
  }
};

/// All vehicles at one time.
struct RecordedFrame {
  double time_s = 0;
  double clock_s = 0;  ///< add it to time_s to get the absolute time (clock of the recording)
  /// Whether the recording of another place or another day begins here. No vehicle continues, and
  /// times may begin anew.
  bool begins_stretch = false;
  std::int64_t line = 0;  ///< line of the input, for messages
  std::vector<RecordedVehicle> vehicles;
  std::string text;  ///< the names of vehicles, types and lanes

  void clear() {
    begins_stretch = false;
    vehicles.clear();
    text.clear();
  }
  [[nodiscard]] std::string_view view(TextPart part) const {
    return std::string_view(text).substr(part.begin, part.size);
  }
  /// Appends a name to `text` and returns its position.
  TextPart keep(std::string_view piece) {
    const TextPart part{static_cast<std::uint32_t>(text.size()),
                        static_cast<std::uint32_t>(piece.size())};
    text += piece;
    return part;
  }
};

/// Receives every frame of a recording and may move its contents out. Returns whether to continue
/// reading.
using FrameSink = std::function<bool(RecordedFrame& frame)>;

/// Collects the problems of an input. Either the first problem ends the conversion, or all problems
/// are counted. Thread-safe.
class InputProblems {
 public:
  /// @param skip whether problems are counted and do not end the conversion (--on-error skip)
  explicit InputProblems(bool skip) : skip_(skip) {}
  /// Reports a problem. The caller must leave out the row or part that has the problem.
  /// @param what e.g. "vehicle 'a': speed is 'fast', expected a number"
  /// @throws DataError "file:line: what" if problems are not skipped
  void report(const std::string& file, std::int64_t line, const std::string& what);
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// Messages of the first problems. Call it when no other thread can report problems any more.
  [[nodiscard]] const std::vector<std::string>& examples() const { return examples_; }

 private:
  bool skip_;
  std::atomic<std::int64_t> count_{0};
  std::mutex mutex_;
  std::vector<std::string> examples_;
};

/// One recording. The times of its frames grow within a stretch, i.e. until a frame with
/// `begins_stretch`.
class Recording {
 public:
  virtual ~Recording() = default;
  /// Reads the recording from its start to its end. Call it once.
  /// @throws DataError with file and line if the recording is damaged
  virtual void read(const FrameSink& sink) = 0;
  /// Share of the input that has been read, from 0 to 1; negative if it is unknown. Thread-safe.
  [[nodiscard]] virtual double share_read() const = 0;
  /// Maximum factor between the distances of recorded positions and the distances that follow from
  /// the recorded speeds; either may be the larger one. A recording with a larger factor counts as
  /// wrong. The factor is not exactly 1, because speedometers may be wrong and vehicles drive
  /// curves. Formats whose speeds were computed from positions return a smaller maximum.
  [[nodiscard]] virtual double largest_speed_error() const { return 1.4; }
  /// A remark for the user on how the numbers were derived; may be empty.
  [[nodiscard]] virtual std::string remark() const { return ""; }
};

}  // namespace traffic::data_prep
