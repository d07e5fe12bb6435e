#include "ppo/log.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "traffic/config/scenario_mix.h"

namespace traffic::train {
namespace {

constexpr std::string_view kSampledGain = "rollout/gain_of_means";

report::NamedValues update_figures(const UpdateResult& result) {
  const rl::PpoStatistics& s = result.statistics;
  return {{"train/policy_gradient_loss", s.policy_loss},
          {"train/value_loss", s.value_loss},
          {"train/entropy_loss", -s.entropy},
          {"train/selection_entropy", s.selection_entropy},
          {"train/approx_kl", s.approx_kl},
          {"train/clip_fraction", s.clip_fraction},
          {"train/explained_variance", result.explained_variance},
          {"train/explained_variance_fitted", s.explained_variance},
          {"train/learning_rate", result.learning_rate},
          {"train/ent_coef", result.ent_coef},
          {"train/grad_norm", result.grad_norm},
          {"train/mean_return", result.mean_return},
          {"train/imitation_loss", result.imitation_loss},
          {"train/imitation_agreement", result.imitation_agreement},
          {"train/prior_coef", result.prior_coef},
          {"train/prior_kl", result.prior_kl},
          {"train/epochs", static_cast<double>(result.epochs)},
          {"train/n_updates", static_cast<double>(result.steps)},
          {"train/decisions", s.decisions},
          {"train/selections", s.selections}};
}

}  // namespace

ControllerLog::ControllerLog(Run& run, const Sources& sources) : run_(run), sources_(sources) {}

void ControllerLog::start(std::int64_t iteration, const std::vector<EpisodeOutcome>& uncontrolled) {
  if (!run_.is_reporter()) return;
  episodes_.emplace(run_.dir() / "episodes.csv",
                    iteration > 0 ? std::optional(iteration) : std::nullopt);
  if (iteration == 0) episodes_->write(0, "none", uncontrolled);
}

report::NamedValues ControllerLog::iterated(const Iterated& done) {
  const RolloutBatch& batch = done.batch;
  if (episodes_) episodes_->write(done.iteration, "train", batch.outcomes);
  report::NamedValues values =
      rollout_figures(batch.outcomes, sources_.rollouts.sampled_gain(batch.outcomes));
  const report::NamedValues more = update_figures(done.update);
  values.insert(values.end(), more.begin(), more.end());
  const auto mix = config::scenario_mix(config().env);
  for (std::size_t s = 0; s < done.update.imitation_agreements.size(); ++s) {
    values.emplace_back("train/imitation_agreement_" + name_in_figures(mix[s].scenario),
                        done.update.imitation_agreements[s]);
  }
  if (const Constraint* constraint = sources_.constraint) {
    values.emplace_back("Metrics/EpCost", mean_cost(batch.outcomes));
    values.emplace_back("Metrics/CostLimit", config().lagrange.cost_limit);
    values.emplace_back("Metrics/LagrangeMultiplier", constraint->multiplier());
    values.emplace_back("train/cost_value_loss", constraint->critic_loss());
  }
  values.emplace_back("time/iterations", static_cast<double>(done.iteration));
  values.emplace_back("time/total_timesteps", static_cast<double>(done.total_steps));
  if (!config().episodes.demand_curriculum.empty()) {
    const double scale = demand_scale_at(config(), done.iteration - 1);
    values.emplace_back("rollout/demand_scale", scale);
    // It would compare two demands.
    if (scale != 1.0) {
      std::erase_if(values, [](const auto& value) { return value.first == kSampledGain; });
    }
  }
  const rollout::PoolCounters counters = sources_.rollouts.counters();
  values.emplace_back("rollout/lost_episodes", static_cast<double>(counters.lost_episodes));
  values.emplace_back("rollout/restarts", static_cast<double>(counters.restarts));
  watch_losses(counters);
  return values;
}

/// A lost episode is a warning among others; many of them are a run that nobody should leave alone.
void ControllerLog::watch_losses(const rollout::PoolCounters& counters) {
  constexpr std::uint64_t kEpisodes = 20;  ///< at least, to speak of a share
  constexpr double kTooMany = 0.1;
  const std::uint64_t lost = counters.lost_episodes - watched_.lost_episodes;
  const std::uint64_t begun = lost + counters.episodes - watched_.episodes;
  if (begun < kEpisodes) return;
  watched_ = counters;
  if (!run_.is_reporter() || static_cast<double>(lost) < kTooMany * static_cast<double>(begun)) {
    return;
  }
  spdlog::error(
      "{} of the last {} episodes were lost with their simulation: training goes on, but slower; "
      "the warnings say what they died of, logs/ of the run has them all",
      lost, begun);
}

report::NamedValues shown_of(const report::NamedValues& figures) {
  static const std::vector<std::pair<std::string, std::string>> kShown = {
      {"rollout/ep_rew_mean", "reward"},
      {std::string(kSampledGain), "gain"},
      {"rollout/demand_scale", "demand"},
      {"train/approx_kl", "kl"},
      {"train/entropy_loss", "entropy_loss"},
      {"train/explained_variance", "explained"},
      {"Metrics/EpCost", "cost"},
      {"Metrics/LagrangeMultiplier", "lambda"}};
  report::NamedValues shown;
  for (const auto& [name, label] : kShown) {
    const auto has_name = [&](const auto& figure) { return figure.first == name; };
    const auto found = std::find_if(figures.begin(), figures.end(), has_name);
    if (found != figures.end()) shown.emplace_back(label, found->second);
  }
  return shown;
}

void ControllerLog::evaluated(std::int64_t iteration, const Assessed& assessed) {
  const SelectionEvaluation& evaluation = assessed.evaluation;
  std::string compared;
  if (const auto& more = assessed.sampled_over_greedy) {
    compared =
        fmt::format(" (sampled over greedy {:+.2f} +- {:.2f})", more->mean, more->half_width);
  }
  const double commanded = mean_cv_steps(evaluation.controlled);
  spdlog::info(
      "iteration {}: gain of {} over no control {:+.2f} +- {:.2f} % on {} selection seeds "
      "(worst {:+.2f}), {:.0f} vehicle-seconds under control, deciding {}{}",
      iteration, name_of(scene::objective_of(config().env.objective)), evaluation.gain.mean,
      evaluation.gain.half_width, evaluation.gain.count, evaluation.gain.least, commanded,
      to_string(assessed.decides), compared);
  if (const bool idle = commanded == 0.0; !std::exchange(idle_, idle) && idle) {
    spdlog::info(
        "iteration {}: the policy commands nobody on these seeds, and so is no control until it "
        "has found a command that is worth giving",
        iteration);
  }
  if (sources_.constraint != nullptr) {
    spdlog::info("iteration {}: cost of a control step {:.3f}, limit {:.3f}, multiplier {:.2f}",
                 iteration, mean_cost(evaluation.controlled), config().lagrange.cost_limit,
                 sources_.constraint->multiplier());
  }
  if (episodes_) episodes_->write(iteration, "eval", evaluation.controlled);
}

}  // namespace traffic::train
