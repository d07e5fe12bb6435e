/// Evaluates the policy and scripted controllers on a fixed set of seeds, and compares them with
/// runs without control on the same seeds. No training episode has one of these seeds.
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

/// The scripts that the policy imitates, one for each scenario.
std::vector<std::string> experts_of(const config::Config& config);
/// The scripts that the policy imitates, is advised by or begins as, one for each scenario. The
/// list is empty if the policy starts from no script. The final comparison compares the trained
/// controller with them.
std::vector<std::string> scripts_to_beat(const config::Config& config);

/// The evaluations on one set of seeds. All functions are collective.
class SelectionRuns {
 public:
  /// All referenced objects must outlive this one.
  struct Parts {
    const config::Config& config;
    comm::Communicator& communicator;
    TrafficCollector& collector;
    const Reward& reward;
    const Cost& cost;
    std::uint64_t first_seed;
    std::int64_t episodes;  ///< number of episodes of all ranks in an evaluation
  };
  explicit SelectionRuns(const Parts& parts);

  /// Outcomes without control. The first call runs the episodes; later calls return the stored
  /// outcomes.
  const std::vector<EpisodeOutcome>& uncontrolled();
  /// Evaluation of scripts_to_beat(). The first call runs the episodes; later calls return the
  /// stored result.
  const SelectionEvaluation& script();
  /// Evaluates the agents.
  /// @return nothing if the evaluation was given up because a stop was requested; the simulations
  ///   are then in the middle of episodes
  std::optional<SelectionEvaluation> run(const Actors& actors, Decides decides);
  /// Evaluates the agents even if a stop is requested.
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
