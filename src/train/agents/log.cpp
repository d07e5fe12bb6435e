#include "agents/log.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rollouts/baseline_runs.h"

namespace traffic::train {
namespace {

constexpr std::string_view kSampledGain = "rollout/gain_of_means";

}  // namespace

void ControllerLog::start(std::int64_t iteration, const std::vector<EpisodeOutcome>& uncontrolled) {
  if (!run_.is_reporter()) return;
  episodes_.emplace(run_.dir() / "episodes.csv",
                    iteration > 0 ? std::optional(iteration) : std::nullopt);
  if (iteration == 0) episodes_->write(0, "none", uncontrolled);
}

report::NamedValues ControllerLog::iterated(const RolloutBatch& batch, const Progress& after) {
  if (episodes_) episodes_->write(after.iteration, "train", batch.outcomes);
  report::NamedValues values =
      rollout_figures(batch.outcomes, rollouts_.sampled_gain(batch.outcomes));
  values.emplace_back("time/iterations", static_cast<double>(after.iteration));
  values.emplace_back("time/total_timesteps", static_cast<double>(after.control_steps));
  const DemandRange range = demand_range(config().episodes);
  const double scale = demand_scale_at(config(), after.iteration - 1);
  if (!config().episodes.demand_curriculum.empty()) {
    values.emplace_back("rollout/demand_scale", scale);
  }
  // The gain compares with baselines, which are measured at demand factor 1. With another demand it
  // would be meaningless.
  if (range.low != 1.0 || range.high != 1.0 || scale != 1.0) {
    std::erase_if(values, [](const auto& value) { return value.first == kSampledGain; });
  }
  const rollout::PoolCounters counters = rollouts_.counters();
  values.emplace_back("rollout/lost_episodes", static_cast<double>(counters.lost_episodes));
  values.emplace_back("rollout/restarts", static_cast<double>(counters.restarts));
  watch_losses(counters);
  return values;
}

/// Logs an error if many episodes were lost, because the run then needs attention. For each single
/// lost episode, the collector has already logged a warning.
void ControllerLog::watch_losses(const rollout::PoolCounters& counters) {
  constexpr std::uint64_t kMinEpisodes = 20;  // fewer episodes give no meaningful share
  constexpr double kTooMany = 0.1;
  const std::uint64_t lost = counters.lost_episodes - watched_.lost_episodes;
  const std::uint64_t begun = lost + counters.episodes - watched_.episodes;
  if (begun < kMinEpisodes) return;
  watched_ = counters;
  if (!run_.is_reporter() || static_cast<double>(lost) < kTooMany * static_cast<double>(begun)) {
    return;
  }
  spdlog::error(
      "{} of the last {} episodes were lost because their simulations failed; training continues, "
      "but slower. Warnings in logs/error.log of the run name the causes on all ranks",
      lost, begun);
}

report::NamedValues shown_of(const report::NamedValues& metrics) {
  static const std::vector<std::pair<std::string, std::string>> kShown = {
      {"rollout/ep_rew_mean", "reward"},
      {std::string(kSampledGain), "gain"},
      {"rollout/demand_scale", "demand"},
      {"rollout/delay_s", "delay_s"},
      {"train/loss", "loss"},
      {"train/approx_kl", "kl"},
      {"train/entropy_loss", "entropy_loss"},
      {"train/explained_variance", "explained"},
      {"Metrics/EpCost", "cost"},
      {"Metrics/LagrangeMultiplier", "lambda"}};
  report::NamedValues shown;
  for (const auto& [name, label] : kShown) {
    const auto has_name = [&](const auto& metric) { return metric.first == name; };
    const auto found = std::find_if(metrics.begin(), metrics.end(), has_name);
    if (found != metrics.end()) shown.emplace_back(label, found->second);
  }
  return shown;
}

void ControllerLog::evaluated(std::int64_t iteration, const Assessed& assessed) {
  const SelectionEvaluation& evaluation = assessed.evaluation;
  std::string compared;
  if (const auto& more = assessed.sampled_over_greedy) {
    compared =
        fmt::format(" (gain of sampled minus gain of greedy decisions: {:+.2f} +- {:.2f} points)",
                    more->mean, more->half_width);
  }
  const double commanded_steps = mean_cv_steps(evaluation.controlled);
  const bool vehicles_act = config().env.vehicles_act();
  const std::string commanded =
      vehicles_act ? fmt::format(", {:.0f} vehicle-steps under control per run", commanded_steps)
                   : "";
  spdlog::info(
      "iteration {}: gain in {} over no control {:+.2f} +- {:.2f} % on {} selection seeds "
      "(worst seed {:+.2f} %){}, with {} decisions{}",
      iteration, scene::name_of(scene::objective_of(config().env.objective)), evaluation.gain.mean,
      evaluation.gain.half_width, evaluation.gain.count, evaluation.gain.least, commanded,
      to_string(assessed.decides), compared);
  if (const bool idle = commanded_steps == 0.0 && vehicles_act;
      !std::exchange(idle_, idle) && idle) {
    spdlog::info(
        "iteration {}: the policy commands no vehicle on these seeds, so it equals no control "
        "until it learns a command that is worth giving",
        iteration);
  }
  if (episodes_) episodes_->write(iteration, "eval", evaluation.controlled);
}

}  // namespace traffic::train
