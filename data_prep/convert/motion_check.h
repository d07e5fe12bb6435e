/// MotionCheck checks that speeds, accelerations and movements of recorded vehicles are physically
/// possible. walk() passes every frame of a recording to it. A stretch of a vehicle's way is its
/// movement over about 20 m; a stretch of a recording is a sequence of frames without gaps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "recording.h"
#include "tracker.h"
#include "traffic/data/plausible.h"

namespace traffic::data_prep {

/// Which positions of the vehicles a conversion uses.
enum class Places {
  kPlane,  ///< x and y, and positions along lanes for vehicles on the same lane
  kLanes,  ///< lane of the network and position along it
};

class MotionCheck {
 public:
  /// @param largest_speed_error see Recording::largest_speed_error()
  MotionCheck(const std::string& file, InputProblems& problems, Places places,
              double largest_speed_error)
      : file_(file), problems_(problems), places_(places), largest_ratio_(largest_speed_error) {}

  void begin_stretch(double step_s);
  /// Reports vehicles with impossible numbers and removes them from the frame. Sets `jumped` of
  /// vehicles that cannot have driven to their place.
  void check(RecordedFrame& frame);
  /// Compares the displacements of vehicles with their speeds and headings, over the whole
  /// recording. Call it after the last frame.
  /// @throws DataError with a line if they contradict each other, e.g. because of a wrong unit. It
  ///   throws even if problems are skipped, because the whole recording is then wrong
  void finish() const;
  [[nodiscard]] std::int64_t jumps() const { return jumps_; }

 private:
  /// State of a vehicle in the previous frame.
  struct State {
    bool known = false;  ///< false if the vehicle is new or its numbers were impossible
    std::string lane;
    double x_m = kUnknown;
    double y_m = kUnknown;
    double speed_mps = 0;
    data::DisplacementRatio::Stretch in_plane;
    data::DisplacementRatio::Stretch along_lane;
  };
  /// A comparison of displacements with speeds, and the first stretch in which they differ.
  struct Comparison {
    const char* places;  ///< what the compared positions are, for the message: "positions along
                         ///< lanes" or "coordinates"
    data::DisplacementRatio ratio{};
    std::int64_t line = 0;   ///< line of the first stretch in which they differ; 0 if there is none
    std::string vehicle{};   ///< vehicle of that stretch
    double first_ratio = 1;  ///< ratio in that stretch
  };

  /// A comparison of stated headings with displacements.
  struct Headings {
    std::int64_t stretches = 0;  ///< number of compared stretches of 20 m
    std::int64_t elsewhere = 0;  ///< number of stretches whose displacement has another direction
                                 ///< than the stated heading
    std::int64_t line = 0;       ///< line of the first such stretch
    std::string vehicle{};       ///< vehicle of the first such stretch
  };

  [[nodiscard]] bool has_possible_numbers(const RecordedFrame& frame, const RecordedVehicle& v);
  [[nodiscard]] bool has_possible_change(const RecordedFrame& frame, const RecordedVehicle& v,
                                         const State& before);
  void follow(const RecordedFrame& frame, RecordedVehicle& v, State& state);
  /// @return whether the vehicle has completed a stretch of its way
  bool compare(Comparison& comparison, data::DisplacementRatio::Stretch& stretch, scene::Point to,
               const RecordedFrame& frame, const RecordedVehicle& v);
  void reject(const Comparison& comparison) const;
  [[nodiscard]] bool fits(double ratio) const {
    return data::is_possible_ratio(ratio, step_s_, largest_ratio_);
  }
  void compare_heading(const RecordedFrame& frame, const RecordedVehicle& v, scene::Point moved_m);
  void reject_headings() const;

  const std::string& file_;
  InputProblems& problems_;
  Places places_;
  double largest_ratio_;  ///< see Recording::largest_speed_error()
  double step_s_ = 1;
  Tracker<State> tracker_;
  Comparison in_plane_{.places = "coordinates"};
  Comparison along_lanes_{.places = "positions along lanes"};
  Headings headings_;
  std::int64_t jumps_ = 0;
};

}  // namespace traffic::data_prep
