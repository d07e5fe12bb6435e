/// Checks that speeds, accelerations and movements of recorded vehicles are physically possible.
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
  kPlane,  ///< x and y; the position along the lane if two vehicles share a lane
  kLanes,  ///< lane and position along it, on a network
};

class MotionCheck {
 public:
  /// @param largest_speed_error as Recording::largest_speed_error()
  MotionCheck(const std::string& file, InputProblems& problems, Places places,
              double largest_speed_error)
      : file_(file), problems_(problems), places_(places), largest_ratio_(largest_speed_error) {}

  void begin_stretch(double step_s);
  /// Reports vehicles with impossible numbers and takes them out of the frame; marks those that
  /// jumped.
  void check(RecordedFrame& frame);
  /// Compares the displacements of the whole recording with its speeds and headings.
  /// @throws DataError with a line, even if problems are skipped, because then no part of the
  /// recording is sound
  void finish() const;
  [[nodiscard]] std::int64_t jumps() const { return jumps_; }

 private:
  /// A vehicle in the previous frame.
  struct State {
    bool known = false;  ///< false: the vehicle is new, or its numbers there were impossible
    std::string lane;
    double x_m = kUnknown;
    double y_m = kUnknown;
    double speed_mps = 0;
    data::DisplacementRatio::Stretch in_plane;
    data::DisplacementRatio::Stretch along_lane;
  };
  /// A comparison of displacements with speeds, and the first stretch in which they differ.
  struct Comparison {
    const char* places;
    data::DisplacementRatio ratio{};
    std::int64_t line = 0;
    std::string vehicle{};
    double first_ratio = 1;
  };

  /// Stretches of 20 m whose stated heading is known, and the first one that leads elsewhere.
  struct Headings {
    std::int64_t stretches = 0;
    std::int64_t elsewhere = 0;
    std::int64_t line = 0;
    std::string vehicle{};
  };

  [[nodiscard]] bool has_possible_numbers(const RecordedFrame& frame, const RecordedVehicle& v);
  [[nodiscard]] bool has_possible_change(const RecordedFrame& frame, const RecordedVehicle& v,
                                         const State& before);
  void follow(const RecordedFrame& frame, RecordedVehicle& v, State& state);
  /// @return whether the vehicle has completed a stretch
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
  double largest_ratio_;  ///< between displacements and speeds, either way
  double step_s_ = 1;
  Tracker<State> tracker_;
  Comparison in_plane_{.places = "coordinates"};
  Comparison along_lanes_{.places = "positions along lanes"};
  Headings headings_;
  std::int64_t jumps_ = 0;
};

}  // namespace traffic::data_prep
