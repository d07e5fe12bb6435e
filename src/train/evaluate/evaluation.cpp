#include "traffic/train/evaluate/evaluation.h"

#include <fmt/ranges.h>

#include <optional>
#include <set>

#include "evaluate/episode.h"
#include "evaluate/episode_processes.h"
#include "evaluate/figures.h"
#include "evaluate/replay.h"
#include "traffic/config/seeds.h"
#include "traffic/core/error.h"
#include "traffic/sim/scenario.h"

namespace traffic::train {
namespace {

void check_plan(const EvaluationPlan& plan) {
  if (plan.seeds.empty()) throw ConfigError("--seeds: found no seed, expected at least one");
  sim::find_scenario(plan.config.env.scenario);
}

/// Checks that traffic without control has the emissions that the objective compares.
void check_emissions(const EvaluationPlan& plan, const std::vector<EvaluatedEpisode>& episodes) {
  const auto none = index_of_none(plan);
  if (!none) return;
  scene::Emissions emissions;
  for (const EvaluatedEpisode& episode : episodes) {
    if (episode.controller == *none) emissions += episode.score.emissions();
  }
  require_emissions(scene::objective_of(plan.config.env.objective), plan.config.env.scenario,
                    emissions);
}

}  // namespace

void check_controllers(const std::vector<std::string>& names) {
  if (names.empty()) throw ConfigError("--controller: found no controller, expected at least one");
  if (std::set<std::string>(names.begin(), names.end()).size() != names.size()) {
    throw ConfigError("--controller: found the same controller twice in {}; give each one once",
                      fmt::join(names, ", "));
  }
  for (const std::string& name : names) check_controller(name);
}

std::vector<EvaluatedEpisode> run_evaluation(
    const EvaluationPlan& plan, const std::function<void(const EvaluationProgress&)>& progress) {
  check_plan(plan);
  if (!plan.replay_dir.empty()) create_replay_dir(plan);
  std::vector<EvaluatedEpisode> episodes(plan.controllers.size() * plan.seeds.size());
  EpisodeProcesses processes(plan, [&, next = std::size_t{0}]() mutable {
    return next < episodes.size() ? std::optional(next++) : std::nullopt;
  });
  std::size_t done = 0;
  const auto on_interval = [&] {
    const auto total = static_cast<double>(episodes.size());
    if (progress) {
      progress({.done = done,
                .total = episodes.size(),
                .share = (static_cast<double>(done) + processes.running_share()) / total});
    }
    return true;
  };
  while (const auto report = processes.next(on_interval)) {
    episodes[report->task] = report->episode;
    ++done;
  }
  TRAFFIC_CHECK(done == episodes.size(), "only {} of {} episodes have a result", done,
                episodes.size());
  if (!plan.replay_dir.empty()) write_replay(plan);
  check_emissions(plan, episodes);
  return episodes;
}

std::vector<std::uint64_t> parse_seeds(const std::string& text) {
  config::SeedList list = config::read_seeds(text);
  if (list.refusal.empty()) return list.seeds;
  throw ConfigError("--seeds: found '{}', {}", text, list.refusal);
}

}  // namespace traffic::train
