/// The simulation that a SumoEnv observes and commands: SUMO in this process (LibsumoSimulator), or
/// a SUMO that somebody else has started (TraciSimulator).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "traffic/scene/road.h"
#include "traffic/scene/signal_plan.h"
#include "traffic/scene/vehicle.h"
#include "vehicle_exits.h"

namespace traffic::sim {

/// Position, speed and time loss of a vehicle after the last step.
struct Motion {
  int lane = -1;  ///< index in Road::lanes; -1: on no lane of the road
  double lane_pos_m = 0;
  double speed_mps = 0;
  double time_loss_s = 0;
  scene::Emissions emissions{};  ///< in the last step; 0 if the simulator does not measure them
};

/// Properties of a vehicle that do not change while it drives.
struct VehicleFacts {
  std::string type;
  double length_m = 0;
  double min_gap_m = 0;
  double accel_mps2 = 0;
  double decel_mps2 = 0;
  double max_speed_mps = 0;
  double speed_factor = 1;
};

/// A vehicle that left the simulation in the last step.
struct LeftVehicle {
  std::string name;
  /// Empty if the simulator does not tell whether the vehicle has arrived.
  std::optional<VehicleExit> exit;
};

/// Events of the last step.
struct SimulatorEvents {
  std::vector<std::string> departed;
  std::vector<std::string> teleports_ended;  ///< vehicles that are back on the road
  std::vector<LeftVehicle> left;
  std::vector<std::string> waiting;  ///< vehicles that want to enter the road and cannot
  std::vector<std::pair<std::string, std::string>> colliding;  ///< pairs that overlap
  int emergency_stops = 0;
  int emergency_brakes_so_far = 0;  ///< count since the simulation began
  int teleports_so_far = 0;         ///< count since the simulation began, without jumps to a stop
};

/// Names of vehicles, edges and lights are those of SUMO. Times are SUMO's, in seconds. Calls throw
/// std::exception with SUMO's own message if SUMO refuses them.
class Simulator {
 public:
  Simulator() = default;
  virtual ~Simulator() = default;
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  /// Begins an episode without known vehicles.
  /// @param road must outlive the episode
  virtual void begin(const scene::Road& road) = 0;
  virtual void step() = 0;
  [[nodiscard]] virtual SimulatorEvents events() = 0;
  [[nodiscard]] virtual double time_s() = 0;
  /// Configured end; negative: the simulation has none.
  [[nodiscard]] virtual double end_s() = 0;
  [[nodiscard]] virtual double step_length_s() = 0;
  /// Value of an option of SUMO.
  [[nodiscard]] virtual std::string option(const std::string& name) = 0;
  /// Number of vehicles on the road and of those that are still to depart.
  [[nodiscard]] virtual int vehicles_expected() = 0;
  /// Ends the simulation, or this program's part in it.
  virtual void close() noexcept = 0;

  [[nodiscard]] virtual std::vector<std::string> vehicles() = 0;
  [[nodiscard]] virtual VehicleFacts facts(const std::string& vehicle) = 0;
  [[nodiscard]] virtual std::vector<std::string> route(const std::string& vehicle) = 0;
  [[nodiscard]] virtual int route_index(const std::string& vehicle) = 0;
  [[nodiscard]] virtual double departure_s(const std::string& vehicle) = 0;
  [[nodiscard]] virtual double depart_delay_s(const std::string& vehicle) = 0;
  [[nodiscard]] virtual double distance_m(const std::string& vehicle) = 0;
  /// Emissions per second of a vehicle that stands with its engine running, also while it waits to
  /// enter. 0 if the simulator does not measure emissions.
  [[nodiscard]] virtual scene::Emissions idle_emissions_per_s(const std::string& vehicle) = 0;
  /// Makes a vehicle known to motion().
  /// @param id number of vehicles that were made known before
  virtual void enter(std::uint32_t id, const std::string& vehicle) = 0;
  [[nodiscard]] virtual Motion motion(std::uint32_t id, const std::string& vehicle) = 0;

  /// Speed that the vehicle's driver would choose on a free road.
  [[nodiscard]] virtual double allowed_speed_mps(const std::string& vehicle) = 0;
  /// Speed to which SUMO's car-following model limits a vehicle behind a leader.
  /// @param leader_max_decel_mps2 maximum deceleration in the leader's vehicle type
  [[nodiscard]] virtual double follow_speed_mps(const std::string& vehicle, double speed_mps,
                                                double gap_m, double leader_speed_mps,
                                                double leader_max_decel_mps2,
                                                const std::string& leader) = 0;
  /// @param speed_mps negative: SUMO's driver model decides again
  virtual void set_speed(const std::string& vehicle, double speed_mps) = 0;
  /// Asks a vehicle to change to a lane of its edge and to stay there for this time in all.
  virtual void change_lane(const std::string& vehicle, int lane_index, double duration_s) = 0;
  [[nodiscard]] virtual int lane_index(const std::string& vehicle) = 0;
  virtual void set_speed_limit(const std::string& edge, double limit_mps) = 0;

  [[nodiscard]] virtual std::string light_program(const std::string& light) = 0;
  [[nodiscard]] virtual std::string light_state(const std::string& light) = 0;
  [[nodiscard]] virtual int light_phase(const std::string& light) = 0;
  [[nodiscard]] virtual double light_next_switch_s(const std::string& light) = 0;
  /// Phases and parameters of a program of the light; empty if the light has no such program.
  [[nodiscard]] virtual scene::SignalLogic light_logic(const std::string& light,
                                                       const std::string& program) = 0;
  /// Shows a state instead of the program.
  virtual void set_light_state(const std::string& light, const std::string& state) = 0;
  virtual void set_light_program(const std::string& light, const std::string& program) = 0;
  virtual void set_phase_duration(const std::string& light, double left_s) = 0;
};

}  // namespace traffic::sim
