/// Commands for connected vehicles (CVs), and how long they stay in force. Controllers give the
/// commands, and the simulation carries them out. A conflict is a place where streams of traffic
/// meet, such as a junction or a merge (road.h).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "traffic/scene/road_state.h"

namespace traffic::scene {

/// Longitudinal command. Most commands approach a target speed. Only kTargetSpeed and kAcceleration
/// are continuous: a controller chooses their `value` from a range.
enum class Longitudinal : std::uint8_t {
  kNone,          ///< no command: SUMO's driver model controls the vehicle
  kStop,          ///< target 0 m/s
  kSlow,          ///< target ControlLimits::slow_mps
  kHold,          ///< target: the vehicle's speed when it got the command
  kFast,          ///< target: the highest speed at which the vehicle's driver would drive here
  kArriveLate,    ///< reach the stop line when the streams that the vehicle meets at the conflict
                  ///< lose their green. Only greens that are on or begin within `value` s
                  ///< count. Without such a green the command has no effect
  kTargetSpeed,   ///< target `value` m/s
  kAcceleration,  ///< `value` m/s2
  kArriveGreen,   ///< reach the stop line when the vehicle's own light turns green, but no slower
                  ///< than kLeastArrivalMps. Without a red light the command has no effect
};
/// Minimum speed of kArriveGreen. Other drivers overtake slower vehicles. A higher minimum causes
/// more hard braking: on the scenario `arterial` the script `glide` causes 830 hard brakes per run
/// with 3 m/s, and 1,450 with 4 m/s.
inline constexpr double kLeastArrivalMps = 3.0;
/// Largest value of the enumeration. Code that reads commands as bytes refuses larger values.
inline constexpr Longitudinal kLastLongitudinal = Longitudinal::kArriveGreen;
/// Name in TOML, logs and reports: none, stop, slow, hold, fast, arrive_late, target_speed,
/// acceleration, arrive_green.
std::string_view name_of(Longitudinal command);

/// Change to a neighbouring lane; without effect if there is no such lane. The vehicle tries to
/// change and then keeps the new lane. The attempt and the keeping together last kLaneKeptS. They
/// end earlier when the vehicle passes the conflict that was ahead. Later commands do not shorten
/// this time.
enum class LaneChange : std::int8_t { kRight = -1, kKeep = 0, kLeft = 1 };
/// Duration in seconds for which a commanded lane is kept. On the scenario `weave` the gain over no
/// control is 2.8 % with 3 s, 4.7 % with 15 s and 5.2 % with 30 s.
inline constexpr double kLaneKeptS = 30.0;

/// The kind of a command, without speeds and durations: a longitudinal command or a lane change.
/// The configuration key vehicles.commands lists the kinds that a policy may use.
struct CommandKind {
  Longitudinal longitudinal = Longitudinal::kNone;
  LaneChange lane_change = LaneChange::kKeep;

  friend bool operator==(const CommandKind&, const CommandKind&) = default;
};
/// The kind with this name: "left", "right", or a name of Longitudinal.
/// @throws ConfigError for an unknown name
CommandKind command_kind_of(std::string_view name);

/// A command for one vehicle. It begins with the next step and lasts `hold_s`. It ends earlier if
/// another command for the vehicle replaces it, or if the vehicle passes the conflict that was
/// ahead when the command was given (kFast does not end there). An empty command ends the present
/// command.
struct Command {
  std::uint32_t vehicle_id = 0;
  Longitudinal longitudinal = Longitudinal::kNone;
  LaneChange lane_change = LaneChange::kKeep;
  double value = 0;   ///< for kArriveLate (s), kTargetSpeed (m/s) and kAcceleration (m/s2)
  double hold_s = 0;  ///< duration of the command; 0: one step
  /// Maximum deceleration towards a lower target; 0: ControlLimits::max_slowdown_mps2.
  double max_slowdown_mps2 = 0;

  [[nodiscard]] bool empty() const {
    return longitudinal == Longitudinal::kNone && lane_change == LaneChange::kKeep;
  }
};

/// The kind of a command; kTargetSpeed counts as kSlow.
CommandKind category_of(const Command& command);

struct ControlLimits {
  double slow_mps = 3.0;           ///< target speed of kSlow
  double max_slowdown_mps2 = 2.0;  ///< maximum deceleration towards a lower target speed
  double min_accel_mps2 = -3.0;    ///< lower end of the range to which kAcceleration is clipped
  double max_accel_mps2 = 2.0;     ///< upper end of that range
};

/// A command in force.
struct ActiveCommand {
  Command command;
  double until_s = 0;  ///< simulated time at which the command ends
  int conflict = -1;   ///< the conflict that was ahead when the command was given; -1: none
  double picked_speed_mps = 0;  ///< the vehicle's speed when the command was given
  bool lane_asked = false;      ///< whether the lane change was requested from SUMO
  /// For kArriveLate: simulated time at which the conflicting streams lose the greens that counted
  /// when the command was given. From then on the command has no effect, even if these streams get
  /// green again. Infinity: no green counted.
  double arrive_by_s = std::numeric_limits<double>::infinity();
};

/// Speed in m/s to request for the next step; nothing if SUMO's driver model decides.
/// @param allowed_mps highest speed at which the vehicle's driver would drive here: the target of
///   kFast, and an upper limit of the targets of kArriveLate and kArriveGreen
std::optional<double> next_speed(const ActiveCommand& active, const Vehicle& vehicle,
                                 const RoadState& state, const ControlLimits& limits,
                                 double allowed_mps);

/// Seconds until the streams that the vehicle meets at the conflict ahead have lost their greens.
/// Greens that are on or begin within lead_s count. Returns nothing if no green counts, or if a
/// green that counts does not end within kSignalHorizonS.
std::optional<double> conflicting_green_left_s(const RoadState& state, const Vehicle& vehicle,
                                               double lead_s = 0);
/// Seconds until this vehicle's lane gets green at the stop line ahead. Returns nothing if the lane
/// has green, if the stop line has no light, or if no green begins within kSignalHorizonS.
std::optional<double> own_red_left_s(const RoadState& state, const Vehicle& vehicle);

/// All commands in force in one simulation. Keeps Vehicle::commanded and committed_until_s up to
/// date.
class CommandBook {
 public:
  void clear() { active_.clear(); }
  /// Adds commands. Skips commands for vehicles that are not on the road now.
  /// @throws Error for a vehicle that is not a CV
  void add(std::span<const Command> commands, RoadState& state);
  /// Removes commands that have ended.
  /// @return ids of the vehicles that had these commands, without vehicles that have left the road
  const std::vector<std::uint32_t>& expire(RoadState& state);
  [[nodiscard]] std::span<ActiveCommand> active() { return active_; }

 private:
  std::vector<ActiveCommand> active_;
  std::vector<std::uint32_t> released_;
};

}  // namespace traffic::scene
