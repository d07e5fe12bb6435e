/// Recorded traffic as frames in time order, whatever format it comes from.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace traffic::data_prep {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// A part of RecordedFrame::text.
struct TextPart {
  std::uint32_t begin = 0;
  std::uint32_t size = 0;
};

/// A vehicle at one moment, in metres, seconds and the plane's axes. What a source does not say is
/// kUnknown or empty.
struct RecordedVehicle {
  TextPart name{};
  TextPart type{};
  TextPart lane{};               ///< as the source names it
  int lane_index = -1;           ///< 0 is the rightmost; -1: the number behind the lane's last _
  double lane_pos_m = kUnknown;  ///< of the front bumper, along the lane
  double x_m = kUnknown;         ///< of the front bumper
  double y_m = kUnknown;
  double heading_x = 1;  ///< unit vector
  double heading_y = 0;
  double speed_mps = kUnknown;
  double accel_mps2 = kUnknown;
  double length_m = kUnknown;
  double speed_limit_mps = kUnknown;
  TextPart leader{};  ///< its name, where the source says it
  double leader_gap_m = kUnknown;
  std::int64_t line = 0;  ///< where it stands, for messages
};

struct RecordedFrame {
  double time_s = 0;
  std::int64_t line = 0;
  std::vector<RecordedVehicle> vehicles;
  std::string text;  ///< all names in it

  void clear() {
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

/// Gets every frame; may take its contents. @return false: no more are wanted
using FrameSink = std::function<bool(RecordedFrame& frame)>;

/// What is wrong in the input: the end of the conversion, or counted. For several threads.
class InputProblems {
 public:
  explicit InputProblems(bool skip) : skip_(skip) {}
  /// @param what e.g. "vehicle 'a': speed is 'fast', expected a number"
  /// @throws DataError "file:line: what" unless problems are skipped
  void report(const std::string& file, std::int64_t line, const std::string& what);
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] bool skip() const { return skip_; }
  /// The first ones; once all threads are done.
  [[nodiscard]] const std::vector<std::string>& examples() const { return examples_; }

 private:
  bool skip_;
  std::atomic<std::int64_t> count_{0};
  std::mutex mutex_;
  std::vector<std::string> examples_;
};

/// One recording. Its frames have growing times.
class Recording {
 public:
  virtual ~Recording() = default;
  /// Reads it from its start to its end. Once.
  /// @throws DataError with file and line
  virtual void read(const FrameSink& sink) = 0;
  /// Part of the input that is read, 0 to 1; negative: not known. From any thread.
  [[nodiscard]] virtual double share_read() const = 0;
  /// What a person should know about how values came about; empty: nothing.
  [[nodiscard]] virtual std::string remark() const { return ""; }
};

}  // namespace traffic::data_prep
