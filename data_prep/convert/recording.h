/// Recorded traffic as frames in time order, whatever format it comes from.
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

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
/// Largest factor between displacements and speeds where the source computed the speeds from the
/// positions. It is below the factor between km/h and ft/s, 1.097, so that a recording with one of
/// these units in place of the other is noticed.
inline constexpr double kComputedSpeedError = 1.08;

/// A piece of RecordedFrame::text.
struct TextPart {
  std::uint32_t begin = 0;
  std::uint32_t size = 0;
};

/// A vehicle at one moment, in metres and seconds. Numbers that the source does not state are
/// kUnknown, texts are empty.
struct RecordedVehicle {
  TextPart name{};
  TextPart type{};
  TextPart lane{};               ///< the name that the source gives it
  int lane_index = -1;           ///< 0 is the rightmost; -1: the number behind the last _ of `lane`
  double lane_pos_m = kUnknown;  ///< of the front bumper, along the lane
  double x_m = kUnknown;         ///< of the front bumper
  double y_m = kUnknown;
  double heading_x = kUnknown;  ///< unit vector
  double heading_y = kUnknown;
  double speed_mps = kUnknown;
  double accel_mps2 = kUnknown;
  double length_m = kUnknown;
  double speed_limit_mps = kUnknown;
  TextPart leader{};  ///< name of the vehicle ahead, where the source states it
  double leader_gap_m = kUnknown;
  std::int64_t line = 0;  ///< of the input, for messages
  /// The vehicle cannot have driven here from its last position. Simulators move vehicles out of
  /// jams.
  bool jumped = false;

  /// @param degrees clockwise from up, as SUMO writes angles
  void set_angle(double degrees) {
    const double radians = degrees * (std::numbers::pi / 180);
    heading_x = std::sin(radians);
    heading_y = std::cos(radians);
  }
};

struct RecordedFrame {
  double time_s = 0;
  double clock_s = 0;  ///< time of day or year by the source's clock, minus time_s
  /// Another place or another day begins, so no vehicle continues, and times may begin anew.
  bool begins_stretch = false;
  std::int64_t line = 0;
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
  TextPart keep(std::string_view piece) {
    const TextPart part{static_cast<std::uint32_t>(text.size()),
                        static_cast<std::uint32_t>(piece.size())};
    text += piece;
    return part;
  }
};

/// Receives every frame and may move its contents out. @return whether to go on reading
using FrameSink = std::function<bool(RecordedFrame& frame)>;

/// Collects the problems of an input: the first one ends the conversion, or all are counted.
/// Thread-safe.
class InputProblems {
 public:
  explicit InputProblems(bool skip) : skip_(skip) {}
  /// @param what e.g. "vehicle 'a': speed is 'fast', expected a number"
  /// @throws DataError "file:line: what" unless problems are skipped
  void report(const std::string& file, std::int64_t line, const std::string& what);
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// The first problems. Call it when no other thread reports any more.
  [[nodiscard]] const std::vector<std::string>& examples() const { return examples_; }

 private:
  bool skip_;
  std::atomic<std::int64_t> count_{0};
  std::mutex mutex_;
  std::vector<std::string> examples_;
};

/// One recording. The times of its frames grow within a stretch.
class Recording {
 public:
  virtual ~Recording() = default;
  /// Reads the recording from its start to its end. Call it once.
  /// @throws DataError with file and line
  virtual void read(const FrameSink& sink) = 0;
  /// Share of the input that has been read, 0 to 1; negative: unknown. Thread-safe.
  [[nodiscard]] virtual double share_read() const = 0;
  /// Largest factor between the displacements and the speeds of a sound recording. Speedometers may
  /// be wrong, and vehicles drive curves. The factor is smaller for a format whose speeds were
  /// computed from positions.
  [[nodiscard]] virtual double largest_speed_error() const { return 1.4; }
  /// A remark for the user on how the numbers were derived; may be empty.
  [[nodiscard]] virtual std::string remark() const { return ""; }
};

}  // namespace traffic::data_prep
