/// The simulation's side of the protocol: episodes and control periods on command.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "period_codec.h"
#include "slot.h"
#include "traffic/config/config.h"
#include "traffic/config/scenario_mix.h"
#include "traffic/rollout/period.h"
#include "traffic/scene/controller.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::rollout {

/// Runs one simulation as the slot commands. Not thread-safe.
class SimLoop {
 public:
  /// Loads the scenario and tells that it is ready.
  /// @throws DataError, ConfigError with SUMO's own message if it cannot be loaded
  SimLoop(const config::Config& config, std::uint32_t env, SimSlot& slot);

  /// Waits at most timeout_s for a command and carries it out.
  /// @throws whatever the simulation throws: this process has to end then
  void serve(double timeout_s);

 private:
  void reset(const EpisodeSpec& spec);
  void count_steps();
  void run_period(std::span<const scene::Command> commands);
  void step();
  void note_controlled();
  void list_candidates();
  void answer();
  [[nodiscard]] bool frame_due(std::int64_t step) const;

  config::Env options_;
  std::vector<config::ScenarioShare> mix_;
  scene::CandidateRule rule_;
  int top_k_;
  std::uint32_t env_index_;
  SimSlot& slot_;
  sim::SumoEnv sumo_;
  PeriodWriter writer_;
  std::int64_t steps_per_period_ = 1;
  std::int64_t steps_per_frame_ = 1;
  bool in_episode_ = false;  ///< of this process
  EpisodeSpec episode_;
  std::unique_ptr<scene::Controller> controller_;
  double next_decision_s_ = 0;
  // Of the period under way.
  std::vector<double> growth_;
  std::vector<double> conflict_growth_;
  std::vector<double> conflict_numerators_;
  std::vector<int> candidate_nodes_;
  std::vector<Candidate> candidates_;
  std::vector<ControlledVehicle> controlled_;
  std::vector<scene::Command> scripted_;
};

}  // namespace traffic::rollout
