#include "rollouts/selection_runs.h"

#include "rollouts/baseline_runs.h"
#include "rollouts/episode_bar.h"
#include "run/together.h"
#include "traffic/config/controller_spec.h"
#include "traffic/core/signals.h"

namespace traffic::train {

std::vector<std::string> experts_of(const config::Config& config) {
  std::vector<std::string> experts = config.imitation.controllers;
  experts.resize(config::scenario_mix(config.env).size(), experts.front());
  return experts;
}

std::vector<std::string> scripts_to_beat(const config::Config& config) {
  const std::size_t scenarios = config::scenario_mix(config.env).size();
  std::vector<std::string> scripts;
  if (config.env.vehicles_act()) {
    if (config.imitation.iterations > 0) {
      scripts = experts_of(config);
    } else if (config::commands_vehicles(config.vehicles.advisor)) {
      scripts.assign(scenarios, config.vehicles.advisor);
    }
  }
  if (!config.env.lights_act()) return scripts;
  const bool is_script = config.lights.advisor != config::kOwnPrograms;
  const std::string lights = is_script ? config.lights.advisor : "none";
  if (scripts.empty()) return std::vector<std::string>(scenarios, lights);
  if (!is_script) return scripts;
  for (std::string& script : scripts) script.insert(0, lights + "+");
  return scripts;
}

SelectionRuns::SelectionRuns(const Parts& parts)
    : parts_(parts), mix_(config::scenario_mix(parts.config.env)) {}

/// Consecutive episodes run the scenarios in turn. All scenarios get the same seeds. The
/// demands of these seeds are spread evenly over the range episodes.demand.
rollout::EpisodeSeed SelectionRuns::traffic_of(std::int64_t i) const {
  const auto scenarios = static_cast<std::int64_t>(mix_.size());
  const std::int64_t rounds = (parts_.episodes + scenarios - 1) / scenarios;
  const std::int64_t round = i / scenarios;
  const auto& [low, high] = demand_range(parts_.config.episodes);
  const double share = (static_cast<double>(round) + 0.5) / static_cast<double>(rounds);
  return {.seed = parts_.first_seed + static_cast<std::uint64_t>(round),
          .scenario = i % scenarios,
          .demand_scale = low + share * (high - low)};
}

/// The requests of this rank.
std::vector<EpisodeRequest> SelectionRuns::requests() const {
  return requests_of_rank(parts_.episodes, parts_.communicator,
                          [&](std::int64_t i) { return traffic_of(i); });
}

const std::vector<EpisodeOutcome>& SelectionRuns::uncontrolled() {
  if (uncontrolled_.empty()) {
    std::vector<EpisodeOutcome> mine;
    together(parts_.communicator, [&] {
      const auto requests = this->requests();
      EpisodeBar progress("uncontrolled selection runs", requests.size(), parts_.config,
                          parts_.communicator.rank() == 0);
      mine = parts_.collector.run_uncontrolled(
          requests, [&](std::size_t, const rollout::Period& period) { progress.add(period); });
    });
    uncontrolled_ = share_outcomes(mine, parts_.episodes, parts_.communicator);
  }
  return uncontrolled_;
}

const SelectionEvaluation& SelectionRuns::script() {
  if (!script_) {
    Behaviour behaviour{.reward = &parts_.reward, .cost = &parts_.cost};
    behaviour.experts = scripts_to_beat(parts_.config);
    script_ = assess(collect("scripted selection runs", behaviour));
  }
  return *script_;
}

std::optional<SelectionEvaluation> SelectionRuns::run(const Actors& actors, Decides decides) {
  const Collected collected = collect("evaluation", {.actors = actors,
                                                     .reward = &parts_.reward,
                                                     .cost = &parts_.cost,
                                                     .decides = decides,
                                                     .gives_up = stop_requested});
  const double given_up = collected.given_up ? 1.0 : 0.0;
  if (parts_.communicator.all_reduce_scalar(given_up) > 0.0) return std::nullopt;
  return assess(collected);
}

SelectionEvaluation SelectionRuns::run_to_the_end(const Actors& actors, Decides decides) {
  return assess(collect(
      "evaluation",
      {.actors = actors, .reward = &parts_.reward, .cost = &parts_.cost, .decides = decides}));
}

Collected SelectionRuns::collect(const char* label, const Behaviour& behaviour) {
  Collected collected;
  together(parts_.communicator, [&] {
    const auto requests = this->requests();
    EpisodeBar progress(label, requests.size(), parts_.config, parts_.communicator.rank() == 0);
    collected = parts_.collector.run(
        requests, behaviour,
        [&](std::size_t, const rollout::Period& period) { progress.add(period); });
  });
  return collected;
}

SelectionEvaluation SelectionRuns::assess(const Collected& collected) {
  SelectionEvaluation result;
  result.controlled = share_outcomes(collected.outcomes, parts_.episodes, parts_.communicator);
  result.gains = gains_over(result.controlled, uncontrolled(),
                            scene::objective_of(parts_.config.env.objective));
  result.gain = report::mean_interval(result.gains);
  result.safety_excess =
      safety_excess(result.controlled, uncontrolled(), parts_.config.evaluation.safety_limit);
  if (mix_.size() == 1) return result;
  for (std::size_t s = 0; s < mix_.size(); ++s) {
    std::vector<double> of_scenario;
    for (std::size_t i = s; i < result.gains.size(); i += mix_.size())
      of_scenario.push_back(result.gains[i]);
    if (!of_scenario.empty()) {
      result.by_scenario.emplace_back(mix_[s].scenario, report::mean_interval(of_scenario));
    }
  }
  return result;
}

}  // namespace traffic::train
