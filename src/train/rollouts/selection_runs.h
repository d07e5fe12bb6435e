/// Episodes of seeds that are never trained on: without control, with scripted controllers, with
/// the policy. All of them meet the same traffic.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rollouts/cost.h"
#include "rollouts/outcomes.h"
#include "rollouts/reward.h"
#include "rollouts/traffic_collector.h"
#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"
#include "traffic/config/scenario_mix.h"

namespace traffic::train {

/// The script of each scenario that the policy imitates.
std::vector<std::string> experts_of(const config::Config& config);
/// The script of each scenario that the policy imitates, is advised by or begins as; empty if there
/// is none. The final comparison compares the trained controller with it.
std::vector<std::string> scripts_to_beat(const config::Config& config);

/// Everything is collective. Keeps references to all that it is given.
class SelectionRuns {
 public:
  struct Parts {
    const config::Config& config;
    comm::Communicator& communicator;
    TrafficCollector& collector;
    const Reward& reward;
    const Cost& cost;
    std::uint64_t first_seed;
    std::int64_t episodes;
  };
  explicit SelectionRuns(const Parts& parts);

  /// Run when first asked for, as script().
  const std::vector<EpisodeOutcome>& uncontrolled();
  /// The scripts to beat (scripts_to_beat).
  const SelectionEvaluation& script();
  /// @return nothing if it was given up because a stop is requested; then the simulations are in
  /// the middle of episodes
  std::optional<SelectionEvaluation> run(const Actors& actors, Decides decides);
  /// The same, whether or not a stop is requested.
  SelectionEvaluation run_to_the_end(const Actors& actors, Decides decides);

 private:
  [[nodiscard]] rollout::EpisodeSeed traffic_of(std::int64_t i) const;
  [[nodiscard]] std::vector<EpisodeRequest> requests() const;
  Collected collect(const char* label, const Behaviour& behaviour);
  SelectionEvaluation assess(const Collected& collected);

  Parts parts_;
  std::vector<config::ScenarioShare> mix_;
  std::vector<EpisodeOutcome> uncontrolled_;
  std::optional<SelectionEvaluation> script_;
};

}  // namespace traffic::train
