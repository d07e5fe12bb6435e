/// Commands for vehicles, and how long they stay in force.
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
  kArriveLate,    ///< reach the stop line when the conflicting green ends that is on or begins
                  ///< within `value` s; without such a green the vehicle is free
  kTargetSpeed,   ///< target `value` m/s
  kAcceleration,  ///< `value` m/s2
  kArriveGreen,   ///< reach the stop line when the vehicle's own green begins, but no slower than
                  ///< kLeastArrivalMps; without a red light the vehicle is free
};
/// Slower vehicles are overtaken, and faster ones make those behind brake hard: on `arterial` the
/// script `glide` causes 830 hard brakes per run with 3 m/s and 1,450 with 4 m/s.
inline constexpr double kLeastArrivalMps = 3.0;
/// Largest value of the enumeration; larger bytes are no command.
inline constexpr Longitudinal kLastLongitudinal = Longitudinal::kArriveGreen;
/// Name in TOML, logs and reports: none, stop, slow, hold, fast, arrive_late, target_speed,
/// acceleration, arrive_green.
std::string_view name_of(Longitudinal command);

/// Change to a neighbouring lane; no effect where there is none. For kLaneKeptS, or until it passes
/// the conflict that was ahead, the vehicle tries to change and then keeps the new lane. Later
/// commands do not shorten this.
enum class LaneChange : std::int8_t { kRight = -1, kKeep = 0, kLeft = 1 };
/// On `weave` the gain is 2.8 % if vehicles may change back after 3 s, 4.7 % after 15 s and 5.2 %
/// after 30 s.
inline constexpr double kLaneKeptS = 30.0;

/// A command without numbers, as vehicles.commands names it: a way to drive, or a lane change.
struct CommandKind {
  Longitudinal longitudinal = Longitudinal::kNone;
  LaneChange lane_change = LaneChange::kKeep;

  friend bool operator==(const CommandKind&, const CommandKind&) = default;
};
/// "left", "right", or a name of Longitudinal.
/// @throws ConfigError for an unknown name
CommandKind command_kind_of(std::string_view name);

/// A command for one vehicle. It begins with the next step and lasts `hold_s`. It ends earlier when
/// another command for the vehicle replaces it, or when the vehicle passes the conflict that was
/// ahead (kFast continues behind the conflict). An empty command releases the vehicle.
struct Command {
  std::uint32_t vehicle_id = 0;
  Longitudinal longitudinal = Longitudinal::kNone;
  LaneChange lane_change = LaneChange::kKeep;
  double value = 0;   ///< of kArriveLate, kTargetSpeed and kAcceleration
  double hold_s = 0;  ///< 0: one step
  /// Deceleration towards a target below the present speed; 0: ControlLimits::max_slowdown_mps2.
  double max_slowdown_mps2 = 0;

  [[nodiscard]] bool empty() const {
    return longitudinal == Longitudinal::kNone && lane_change == LaneChange::kKeep;
  }
};

/// The kind nearest to a command; kTargetSpeed counts as kSlow.
CommandKind category_of(const Command& command);

struct ControlLimits {
  double slow_mps = 3.0;           ///< target of kSlow
  double max_slowdown_mps2 = 2.0;  ///< deceleration towards a target below the present speed
  double min_accel_mps2 = -3.0;    ///< lower end of the range to which kAcceleration is clipped
  double max_accel_mps2 = 2.0;     ///< upper end of that range
};

/// A command in force.
struct ActiveCommand {
  Command command;
  double until_s = 0;           ///< simulated time of its end
  int conflict = -1;            ///< ahead when it was given; -1: none
  double picked_speed_mps = 0;  ///< speed when it was given
  bool lane_asked = false;      ///< the owner has passed the lane change on to the simulator
  /// For kArriveLate: when the green ends for which it was given. A later green has no effect.
  double arrive_by_s = std::numeric_limits<double>::infinity();
};

/// Speed to ask for in the next step; nothing when the vehicle drives on its own model.
/// @param allowed_mps target of kFast
std::optional<double> next_speed(const ActiveCommand& active, const Vehicle& vehicle,
                                 const RoadState& state, const ControlLimits& limits,
                                 double allowed_mps);

/// Seconds until all greens of conflicting streams have ended that are on or begin within lead_s;
/// nothing without such a green, or if one has no end in sight.
std::optional<double> conflicting_green_left_s(const RoadState& state, const Vehicle& vehicle,
                                               double lead_s = 0);
/// Seconds until this vehicle's lane gets green at the stop line ahead; nothing if the lane has
/// green, if the stop line has no light, or if no green is in sight.
std::optional<double> own_red_left_s(const RoadState& state, const Vehicle& vehicle);

/// The commands in force. Keeps Vehicle::commanded and committed_until_s up to date.
class CommandBook {
 public:
  void clear() { active_.clear(); }
  /// Adds commands. Commands for vehicles that have left the road are skipped.
  /// @throws Error for a vehicle that is no CV
  void add(std::span<const Command> commands, RoadState& state);
  /// Drops commands that have ended. @return their vehicles, as far as these are still there
  const std::vector<std::uint32_t>& expire(RoadState& state);
  [[nodiscard]] std::span<ActiveCommand> active() { return active_; }

 private:
  std::vector<ActiveCommand> active_;
  std::vector<std::uint32_t> released_;
};

}  // namespace traffic::scene
