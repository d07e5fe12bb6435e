/// TraciSimulator reads and commands a SUMO that somebody else has started, through SUMO's protocol
/// TraCI.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "simulator.h"
#include "traci_client.h"

namespace traffic::sim {

/// After each step it reads the motion of all vehicles in one message. Commands are sent before the
/// next step.
class TraciSimulator final : public Simulator {
 public:
  /// @throws as join_simulation()
  explicit TraciSimulator(const RunningSimulation& simulation) : client_(simulation) {}
  ~TraciSimulator() override { client_.leave(); }

  /// Checks that the running simulation has the lanes and lights of a network.
  /// @throws DataError that names a difference
  void check_network(const scene::Road& road, const std::string& network_file);

  void begin(const scene::Road& road) override;
  void step() override;
  SimulatorEvents events() override { return events_; }
  double time_s() override { return time_s_; }
  double end_s() override { return end_s_; }
  double step_length_s() override { return step_length_s_; }
  std::string option(const std::string& name) override;
  int vehicles_expected() override { return vehicles_expected_; }
  void close() noexcept override { client_.leave(); }

  std::vector<std::string> vehicles() override;
  VehicleFacts facts(const std::string& vehicle) override;
  std::vector<std::string> route(const std::string& vehicle) override;
  int route_index(const std::string& vehicle) override;
  double departure_s(const std::string& vehicle) override;
  double depart_delay_s(const std::string& vehicle) override;
  double distance_m(const std::string& vehicle) override;
  scene::Emissions idle_emissions_per_s(const std::string& /*vehicle*/) override { return {}; }
  void enter(std::uint32_t id, const std::string& vehicle) override;
  Motion motion(std::uint32_t id, const std::string& vehicle) override;

  double allowed_speed_mps(const std::string& vehicle) override;
  double follow_speed_mps(const std::string& vehicle, double speed_mps, double gap_m,
                          double leader_speed_mps, double leader_max_decel_mps2,
                          const std::string& leader) override;
  void set_speed(const std::string& vehicle, double speed_mps) override;
  void change_lane(const std::string& vehicle, int lane_index, double duration_s) override;
  int lane_index(const std::string& vehicle) override;
  void set_speed_limit(const std::string& edge, double limit_mps) override;

  std::string light_program(const std::string& light) override;
  std::string light_state(const std::string& light) override;
  int light_phase(const std::string& light) override;
  double light_next_switch_s(const std::string& light) override;
  scene::SignalLogic light_logic(const std::string& light, const std::string& program) override;
  void set_light_state(const std::string& light, const std::string& state) override;
  void set_light_program(const std::string& light, const std::string& program) override;
  void set_phase_duration(const std::string& light, double left_s) override;

 private:
  /// A traffic light after the last step.
  struct Light {
    std::string program;
    std::string state;
    int phase = 0;
    double next_switch_s = 0;  ///< SUMO's time at which the phase ends
  };
  /// A vehicle after the last step.
  struct Known {
    Motion motion;
    double allowed_speed_mps = 0;
  };

  TraciReader ask(int command, int variable, const std::string& object,
                  std::string parameters = {});
  TraciReader ask_vehicle(int variable, const std::string& vehicle);
  /// Reads events and lights, then the motion of the known vehicles.
  void observe();
  void read_events();
  void read_lights();
  void read_motions();
  [[nodiscard]] Motion motion_of(TraciReader& lane, TraciReader& pos, TraciReader& speed,
                                 TraciReader& loss) const;

  TraciClient client_;
  const scene::Road* road_ = nullptr;
  double time_s_ = 0;
  double end_s_ = -1;
  double step_length_s_ = 1;
  int vehicles_expected_ = 0;
  SimulatorEvents events_;
  std::unordered_map<std::string, Light> lights_;  ///< by id
  std::unordered_map<std::string, Known> known_;   ///< vehicles that have not left, by name
  std::unordered_set<std::string> teleporting_;    ///< names of vehicles that are being teleported
};

}  // namespace traffic::sim
