/// Episodes and control periods of SUMO on command.
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

/// A SUMO simulation as an environment: an order is an episode (reset) or commands (step), an
/// answer is a control period (period_codec.h). One a process, as libsumo is. Where lights act as
/// well, orders and answers are of both (joint_codec.h).
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
  /// Where the traffic lies that a piece begins in.
  [[nodiscard]] std::filesystem::path piece_file(std::uint64_t seed, std::int64_t piece) const;
  void save_piece();
  /// The scenario's end, or that of the piece.
  [[nodiscard]] bool done() const;
  void begin_period(std::span<std::byte> room);
  void take_order(std::span<const std::byte> order);
  /// Whether a policy drives, on the rank, and has an advisor.
  [[nodiscard]] bool is_advised() const {
    return advisor_ != nullptr && episode_.frames && (controller_ == nullptr || episode_.advises);
  }
  void obey(std::span<const scene::Command> commands);
  void run_step(EnvHost& host);
  [[nodiscard]] double achieved() const;
  [[nodiscard]] std::span<const double> conflict_parts() const;
  void note_controlled();
  [[nodiscard]] Answer answer();
  [[nodiscard]] std::size_t add_lights(std::size_t vehicles_bytes);

  config::Env options_;
  std::string cache_;  ///< episodes.baseline_cache
  std::vector<config::ScenarioShare> mix_;
  scene::ControllerOptions script_options_;
  bool by_delay_;  ///< the objective
  bool joint_;     ///< lights act beside vehicles (joint_codec.h)
  std::uint32_t env_index_;
  sim::SumoEnv sumo_;
  Companion companion_;
  ActingLights lights_;  ///< used where they act
  PeriodWriter writer_;
  scene::ControlPeriod control_period_;
  EpisodeSpec episode_;
  std::unique_ptr<scene::Controller> controller_;
  sim::ControllerDriver driver_;             ///< of controller_
  std::unique_ptr<scene::Advisor> advisor_;  ///< null: none
  // Of the period under way.
  std::span<std::byte> room_;
  std::vector<double> growth_;
  std::vector<double> conflict_growth_;
  std::vector<double> conflict_parts_;  ///< of the objective, so far
  std::vector<scene::Candidate> candidates_;
  std::vector<ControlledVehicle> controlled_;
  std::vector<scene::Command> scripted_;
  std::span<const scene::Command> advice_;
  std::vector<scene::Command> commands_;  ///< of the rank
};

}  // namespace traffic::rollout
