/// What a controller may ask of vehicles, and how long it stays in force.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "traffic/scene/road_state.h"

namespace traffic::scene {

/// Longitudinal command. All but kTargetSpeed and kAcceleration are categorical.
enum class Longitudinal : std::uint8_t {
  kNone,          ///< the vehicle drives on its own model
  kStop,          ///< target 0
  kSlow,          ///< target ControlLimits::slow_mps
  kHold,          ///< target: the speed at which it was picked
  kFast,          ///< target: as fast as its driver may
  kArriveLate,    ///< reach the stop line when the conflicting green ends, one that is on or begins
                  ///< within `value` s; free when there is none
  kTargetSpeed,   ///< target `value` m/s
  kAcceleration,  ///< `value` m/s2
  kArriveGreen,   ///< reach the stop line when its own green begins, but no slower than
                  ///< kLeastArrivalMps; free when there is no red
};
/// Who creeps is overtaken, and those behind brake hard: on `arterial` glide brakes 830 times hard
/// a run at 3 m/s, 1,450 times at 4.
inline constexpr double kLeastArrivalMps = 3.0;
/// The greatest of them: bytes beyond it are no command.
inline constexpr Longitudinal kLastLongitudinal = Longitudinal::kArriveGreen;
/// Name in TOML, logs and reports: none, stop, slow, hold, fast, arrive_late, target_speed,
/// acceleration, arrive_green.
std::string_view name_of(Longitudinal command);

/// To the lane beside; where there is none, nothing. It is tried, and the new lane is kept, for
/// kLaneKeptS or until the vehicle passes the conflict that was ahead, whatever it is asked then.
enum class LaneChange : std::int8_t { kRight = -1, kKeep = 0, kLeft = 1 };
/// On `weave` vehicles that might drift back after 3 s gain 2.8 %, after 15 s 4.7, after 30 s 5.2.
inline constexpr double kLaneKeptS = 30.0;

/// What is asked by one name in vehicles.commands: a way to drive, or a lane.
struct CommandKind {
  Longitudinal longitudinal = Longitudinal::kNone;
  LaneChange lane_change = LaneChange::kKeep;

  friend bool operator==(const CommandKind&, const CommandKind&) = default;
};
/// "left", "right", or a name of Longitudinal.
/// @throws ConfigError if there is none of that name
CommandKind command_kind_of(std::string_view name);

/// A command for one vehicle. It begins with the next step and lasts `hold_s`; it ends earlier when
/// the vehicle passes the conflict that was ahead when it was given (driving fast goes on behind
/// it), or when another command for the same vehicle replaces it. A command that asks for nothing
/// releases the vehicle.
struct Command {
  std::uint32_t vehicle_id = 0;
  Longitudinal longitudinal = Longitudinal::kNone;
  LaneChange lane_change = LaneChange::kKeep;
  double value = 0;   ///< of kArriveLate, kTargetSpeed and kAcceleration
  double hold_s = 0;  ///< 0: one step

  [[nodiscard]] bool empty() const {
    return longitudinal == Longitudinal::kNone && lane_change == LaneChange::kKeep;
  }
};

/// The kind that is nearest to it: a speed to be held is one to slow down to.
CommandKind category_of(const Command& command);

struct ControlLimits {
  double slow_mps = 3.0;           ///< target of kSlow
  double max_slowdown_mps2 = 2.0;  ///< how fast a target below the present speed is approached
  double min_accel_mps2 = -3.0;    ///< kAcceleration is clipped to this range
  double max_accel_mps2 = 2.0;
};

/// A command in force.
struct ActiveCommand {
  Command command;
  double until_s = 0;           ///< simulated time of its end
  int conflict = -1;            ///< ahead when it was given; -1: none
  double picked_speed_mps = 0;  ///< speed when it was given
  bool lane_asked = false;      ///< the owner has passed the change of lanes on
  /// Of kArriveLate: when the green ends that it was given for; a later one holds nobody.
  double arrive_by_s = std::numeric_limits<double>::infinity();
};

/// Speed to ask for in the next step; nothing when the vehicle is to drive on its own model.
/// @param allowed_mps what kFast aims at
std::optional<double> next_speed(const ActiveCommand& active, const Vehicle& vehicle,
                                 const RoadState& state, const ControlLimits& limits,
                                 double allowed_mps);

/// Seconds until the last green of the streams that meet this vehicle's ends, of those that are on
/// or begin within lead_s; nothing when there is none, or one has no end in sight.
std::optional<double> conflicting_green_left_s(const RoadState& state, const Vehicle& vehicle,
                                               double lead_s = 0);
/// Seconds until this vehicle's lane has green at the stop line ahead; nothing when it has, when no
/// light stands there, or no green is in sight.
std::optional<double> own_red_left_s(const RoadState& state, const Vehicle& vehicle);

/// The commands in force. Keeps Vehicle::commanded and committed_until_s up to date.
class CommandBook {
 public:
  void clear() { active_.clear(); }
  /// Takes commands in. Vehicles that have left the road meanwhile are skipped.
  /// @throws Error for a vehicle that is no CV
  void add(std::span<const Command> commands, RoadState& state);
  /// Drops commands that are over. @return vehicles still on the road that are to be released
  const std::vector<std::uint32_t>& expire(RoadState& state);
  [[nodiscard]] std::span<ActiveCommand> active() { return active_; }

 private:
  std::vector<ActiveCommand> active_;
  std::vector<std::uint32_t> released_;
};

}  // namespace traffic::scene
