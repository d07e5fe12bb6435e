/// A SUMO simulation as an environment for any set of agents.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "acting_lights.h"
#include "companion.h"
#include "period_codec.h"
#include "traffic/config/config.h"
#include "traffic/config/scenario_mix.h"
#include "traffic/rollout/pool/environment.h"
#include "traffic/rollout/traffic/period.h"
#include "traffic/scene/advisor.h"
#include "traffic/scene/control_period.h"
#include "traffic/scene/controller.h"
#include "traffic/sim/controller_driver.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::rollout {

/// Runs episodes and control periods. A reset carries the description of an episode, a step the
/// orders of the agents (order_codec.h); every answer is a control period (period_codec.h). A
/// process has one environment, because libsumo can run one simulation in a process.
class TrafficEnvironment final : public Environment {
 public:
  TrafficEnvironment(const config::Config& config, std::uint32_t env);

  /// @throws DataError, ConfigError with SUMO's own message if the scenario cannot be loaded
  void try_out() override;
  Answer reset(std::span<const std::byte> order, std::span<std::byte> room, EnvHost& host) override;
  Answer step(std::span<const std::byte> order, std::span<std::byte> room, EnvHost& host) override;

 private:
  void begin_episode(const EpisodeSpec& spec);
  void load_traffic(const EpisodeSpec& spec);
  [[nodiscard]] std::unique_ptr<scene::Controller> make_script(const std::string& name) const;
  void begin_lights();
  /// File that holds the traffic in which a piece begins.
  [[nodiscard]] std::filesystem::path piece_file(std::uint64_t seed, std::int64_t piece) const;
  void save_piece();
  /// Whether the scenario or the piece has ended.
  [[nodiscard]] bool done() const;
  /// Whether the episode has reached env.max_time_s.
  [[nodiscard]] bool is_cut() const;
  void begin_period(std::span<std::byte> room);
  /// Whether the rank sees the vehicles in this episode.
  [[nodiscard]] bool shows_vehicles() const { return vehicles_act_ && episode_.observed; }
  /// Whether the rank drives the vehicles and has an advisor.
  [[nodiscard]] bool is_advised() const {
    return advisor_ != nullptr && shows_vehicles() && (script_ == nullptr || episode_.advises);
  }
  void command_vehicles(std::span<const scene::Command> commands);
  void run_step(EnvHost& host);
  [[nodiscard]] double achieved() const;
  [[nodiscard]] std::span<const double> conflict_parts() const;
  void note_growth(double growth);
  void note_controlled();
  [[nodiscard]] VehicleSection vehicle_section();
  [[nodiscard]] Answer answer();

  config::Env options_;
  std::string cache_;  ///< episodes.baseline_cache
  std::vector<config::ScenarioShare> mix_;
  scene::ControllerOptions script_options_;
  bool vehicles_act_;
  bool lights_act_;
  bool by_delay_;  ///< whether env.objective is delay
  std::uint32_t env_index_;
  sim::SumoEnv sumo_;
  Companion companion_;
  ActingLights lights_;  ///< used if lights_act_
  PeriodWriter writer_;
  scene::ControlPeriod control_period_;
  EpisodeSpec episode_;
  std::unique_ptr<scene::Controller> script_;  ///< null: the rank decides, or there is no control
  sim::ControllerDriver script_driver_;
  std::unique_ptr<scene::Advisor> advisor_;  ///< null: none
  // Collected in the present control period:
  std::vector<double> growth_;
  std::vector<double> conflict_growth_;
  std::vector<double> conflict_parts_;  ///< conflict_parts() at the last step
  std::vector<scene::Candidate> candidates_;
  std::vector<ControlledVehicle> controlled_;
  std::vector<scene::Command> scripted_;
  std::vector<scene::Command> commands_;
};

}  // namespace traffic::rollout
