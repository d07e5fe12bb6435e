/// TrafficEnvironment, which runs a SUMO simulation as an Environment of a pool, in the program
/// sumo_env.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "companion.h"
#include "traffic/config/config.h"
#include "traffic/config/scenario_mix.h"
#include "traffic/rollout/pool/environment.h"
#include "traffic/rollout/traffic/agent_in_simulation.h"
#include "traffic/rollout/traffic/period.h"
#include "traffic/scene/control_period.h"
#include "traffic/scene/controller.h"
#include "traffic/sim/controller_driver.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::rollout {

/// The order of a reset is the description of an episode, and the order of a step contains the
/// commands to the agents (order_codec.h). Every answer is a control period (period_codec.h). A
/// process has one TrafficEnvironment, because libsumo can run only one simulation in a process.
class TrafficEnvironment final : public Environment {
 public:
  /// @param more agents that env.agents may name besides vehicles and lights
  TrafficEnvironment(const config::Config& config, std::uint32_t env,
                     const std::vector<SimulatedAgent>& more = {});

  /// @throws DataError, ConfigError with SUMO's own message if the scenario cannot be loaded
  void try_out() override;
  Answer reset(std::span<const std::byte> order, std::span<std::byte> room, EnvHost& host) override;
  Answer step(std::span<const std::byte> order, std::span<std::byte> room, EnvHost& host) override;

 private:
  void begin_episode(const EpisodeSpec& spec);
  void load_traffic(const EpisodeSpec& spec);
  [[nodiscard]] std::unique_ptr<scene::Controller> make_script(const std::string& name) const;
  /// File with the saved traffic in which a piece begins. A piece is a part of a long scenario that
  /// is run as an episode (EpisodeSeed::piece).
  [[nodiscard]] std::filesystem::path piece_file(std::uint64_t seed, std::int64_t piece) const;
  /// Saves the present traffic if a piece begins in it.
  void save_piece();
  /// Whether the scenario or the piece has ended.
  [[nodiscard]] bool done() const;
  /// Whether the episode has reached env.max_time_s. If that is 0, there is no limit.
  [[nodiscard]] bool is_cut() const;
  void begin_period();
  void obey(std::span<const std::byte> order);
  /// @param step number of the step in the control period, from 1
  void run_step(std::int64_t step, EnvHost& host);
  /// Stores the terms of env.objective since the start of the episode, from which note_growth()
  /// computes their growth in a step.
  void remember_totals();
  void note_growth();
  /// Writes the answer into memory of the pool.
  [[nodiscard]] Answer answer(std::span<std::byte> room);

  /// An agent of env.agents.
  struct Acting {
    std::string name;
    std::unique_ptr<AgentInSimulation> agent;
  };

  config::Env options_;
  std::string cache_;  ///< value of episodes.baseline_cache
  std::vector<config::ScenarioShare> mix_;
  scene::ControllerOptions script_options_;
  std::vector<scene::Term> terms_;  ///< of env.objective
  std::uint32_t env_index_;
  sim::SumoEnv sumo_;
  Companion companion_;
  std::vector<Acting> agents_;  ///< in the order of the table of agents
  scene::ControlPeriod control_period_;
  EpisodeSpec episode_;
  std::unique_ptr<scene::Controller> script_;  ///< null if EpisodeSpec::controller is empty
  sim::ControllerDriver script_driver_;
  // Collected in the present control period:
  std::vector<double> growth_;
  std::vector<double> conflict_growth_;
  // At the last step, since the start of the episode:
  std::vector<double> totals_;           ///< [T]
  std::vector<double> conflict_totals_;  ///< [C, T]
};

}  // namespace traffic::rollout
