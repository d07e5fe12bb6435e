/// LibsumoSimulator runs SUMO in this process, with the library libsumo.
#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "simulator.h"
#include "sumo_session.h"
#include "vehicle_handle.h"

namespace traffic::sim {

class LibsumoSimulator final : public Simulator {
 public:
  /// @param emissions whether to measure emissions
  explicit LibsumoSimulator(bool emissions) : emissions_(emissions) {}

  /// Loads a scenario in place of the present one.
  /// @throws DataError with SUMO's own message
  void load(const SumoRun& run);
  /// SUMO's time at which the scenario begins. Closes the present simulation.
  double begin_s(const std::filesystem::path& sumocfg, const std::vector<std::string>& args) {
    return session_.begin_s(sumocfg, args);
  }
  /// Writes the state of the simulation to a file.
  void save_state(const std::filesystem::path& file) { session_.save_state(file); }

  void begin(const scene::Road& road) override;
  void step() override;
  SimulatorEvents events() override;
  double time_s() override;
  double end_s() override;
  double step_length_s() override;
  std::string option(const std::string& name) override;
  int vehicles_expected() override;
  void close() noexcept override { session_.close(); }

  std::vector<std::string> vehicles() override;
  VehicleFacts facts(const std::string& vehicle) override;
  std::vector<std::string> route(const std::string& vehicle) override;
  int route_index(const std::string& vehicle) override;
  double departure_s(const std::string& vehicle) override;
  double depart_delay_s(const std::string& vehicle) override;
  double distance_m(const std::string& vehicle) override;
  scene::Emissions idle_emissions_per_s(const std::string& vehicle) override;
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
  int lane_of(const VehicleHandle& handle, const std::string& vehicle);

  bool emissions_;
  double step_s_ = 1;
  VehicleExits exits_;  ///< must outlive the session, to whose simulation it listens
  SumoSession session_;
  const scene::Road* road_ = nullptr;
  std::vector<VehicleHandle> handles_;  ///< [vehicle ids]
  std::unordered_map<const void*, int> lane_of_address_;
};

}  // namespace traffic::sim
