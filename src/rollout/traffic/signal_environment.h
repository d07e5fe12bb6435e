/// Episodes and control periods of SUMO whose traffic lights act.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "acting_lights.h"
#include "companion.h"
#include "traffic/config/config.h"
#include "traffic/config/scenario_mix.h"
#include "traffic/rollout/pool/environment.h"
#include "traffic/rollout/traffic/period.h"
#include "traffic/scene/control_period.h"
#include "traffic/scene/controller.h"
#include "traffic/sim/controller_driver.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::rollout {

/// An order is an episode (reset, period_codec.h) or greens for the lights that asked (step); an
/// answer is a control period (signal_codec.h). One a process, as libsumo is.
class SignalEnvironment final : public Environment {
 public:
  SignalEnvironment(const config::Config& config, std::uint32_t env);

  /// @throws DataError, ConfigError with SUMO's own message if the scenario cannot be loaded
  void try_out() override;
  Answer reset(std::span<const std::byte> order, std::span<std::byte> room, EnvHost& host) override;
  Answer step(std::span<const std::byte> order, std::span<std::byte> room, EnvHost& host) override;

 private:
  void begin_episode(const EpisodeSpec& spec);
  void run_step(EnvHost& host);
  [[nodiscard]] Answer answer(std::span<std::byte> room);

  config::Env options_;
  std::vector<config::ScenarioShare> mix_;
  std::uint32_t env_index_;
  sim::SumoEnv sumo_;
  Companion companion_;
  scene::ControlPeriod control_period_;
  std::unique_ptr<scene::Controller> script_;  ///< null: the rank decides
  sim::ControllerDriver script_driver_;
  ActingLights lights_;
};

}  // namespace traffic::rollout
