#include "rollouts/final_comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/types.h>

#include <algorithm>
#include <utility>

#include "run/foreign_settings.h"

namespace traffic::train {
namespace {

constexpr const char* kImitationGain = "comparison/imitation_gain";

std::string interval_text(const report::MeanInterval& gain) {
  return fmt::format("{:+.2f} +- {:.2f} %", gain.mean, gain.half_width);
}

/// Paired difference of two gains in percentage points: one minus other.
report::MeanInterval gain_over(const SelectionEvaluation& one, const SelectionEvaluation& other) {
  return report::mean_interval(report::paired_differences(one.gains, other.gains));
}

/// A warning if the gain is not significantly above 0; empty otherwise.
std::string warning_of(const report::MeanInterval& gain) {
  if (gain.mean - gain.half_width > 0.0) return "";
  const char* than_none = gain.mean + gain.half_width < 0.0 ? "this is worse than no control"
                                                            : "this is not shown to be above 0";
  return fmt::format("; {}: docs/guide/your-network.md says what to do", than_none);
}

void put_gain(report::Summary& summary, const std::string& name, const report::MeanInterval& gain) {
  summary.result[name] = gain.mean;
  summary.result[name + "_half_width"] = gain.half_width;
}

}  // namespace

FinalComparison::FinalComparison(const config::Config& config, Runs runs, Kind kind)
    : config_(config),
      runs_(runs),
      kind_(std::move(kind)),
      decides_(kind_.only.value_or(Decides::kGreedy)) {
  if (kind_.advice_margin) margin_.emplace(*kind_.advice_margin);
}

/// By how much an evaluation exceeds its limits. A policy should be as safe as no control. In a
/// training with a constraint it should also stay under the cost limit. A smaller excess takes
/// precedence over a higher gain.
double FinalComparison::excess_of(const SelectionEvaluation& evaluation) const {
  const double over = mean_cost(evaluation.controlled) - config_.lagrange.cost_limit;
  return evaluation.safety_excess + (kind_.constrained ? std::max(0.0, over) : 0.0);
}

/// With equal excess, the gain must be higher by more than a standard error of the difference,
/// because the higher of two noisy means may be due to chance.
bool FinalComparison::is_better(const SelectionEvaluation& other,
                                const SelectionEvaluation& than) const {
  const report::MeanInterval more = gain_over(other, than);
  const double excess = excess_of(other) - excess_of(than);
  return excess < 0.0 || (excess == 0.0 && more.mean > more.standard_error());
}

bool FinalComparison::try_sampled(const Actors& actors, Assessed& assessed) {
  auto sampled = runs_.selection.run(actors, Decides::kSampled);
  if (!sampled) return false;
  assessed.sampled_over_greedy = gain_over(*sampled, assessed.evaluation);
  if (is_better(*sampled, assessed.evaluation)) {
    assessed.evaluation = *std::move(sampled);
    assessed.decides = Decides::kSampled;
  }
  return true;
}

bool FinalComparison::try_margin(const Actors& actors, Assessed& assessed) {
  const auto& present = assessed.evaluation;
  const bool has_fallen = selection_.is_fall(excess_of(present), present.gains);
  actors.vehicles->policy().lean_on_advice(margin_->other(has_fallen));
  auto tried = runs_.selection.run(actors, assessed.decides);
  if (!tried) return false;
  const bool better = is_better(*tried, present);
  const bool same = tried->gains == present.gains;
  margin_->judge(has_fallen, better ? AdviceMargin::Tried::kBetter
                             : same ? AdviceMargin::Tried::kSame
                                    : AdviceMargin::Tried::kWorse);
  if (better) assessed.evaluation = *std::move(tried);
  assessed.advice_margin = margin_->value();
  lean_on_advice(actors);
  return true;
}

void FinalComparison::lean_on_advice(const Actors& actors) const {
  if (actors.vehicles != nullptr) actors.vehicles->policy().lean_on_advice(advice_margin());
}

std::optional<Assessed> FinalComparison::assess(const Actors& actors, bool imitation_ends) {
  const auto only = kind_.only;
  lean_on_advice(actors);
  auto first = runs_.selection.run(actors, only.value_or(Decides::kGreedy));
  if (!first) return std::nullopt;
  Assessed assessed{.evaluation = std::move(*first), .decides = only.value_or(Decides::kGreedy)};
  if (!only && !try_sampled(actors, assessed)) return std::nullopt;
  if (margin_ && !try_margin(actors, assessed)) return std::nullopt;
  const double excess = excess_of(assessed.evaluation);
  assessed.fallen = selection_.is_fall(excess, assessed.evaluation.gains);
  assessed.best = selection_.prefers(excess, assessed.evaluation.gains);
  decides_ = assessed.decides;
  if (imitation_ends) imitation_ = assessed.evaluation.gain;
  return assessed;
}

std::string FinalComparison::conclude(const Best& best, report::Summary& summary) {
  lean_on_advice(best.actors);
  const SelectionEvaluation policy = runs_.final.run_to_the_end(best.actors, decides_);
  for (const auto& [name, value] : evaluation_figures(policy)) {
    summary.result[name.substr(name.find('/') + 1)] = value;
  }
  summary.result["decides"] = to_string(decides_);
  std::string text = fmt::format(
      "final comparison on {} new seeds: the best controller, with {} decisions, has a gain in {} "
      "of {} over no control (worst seed {:+.2f} %){}",
      policy.gain.count, to_string(decides_),
      scene::name_of(scene::objective_of(config_.env.objective)), interval_text(policy.gain),
      policy.gain.least, warning_of(policy.gain));
  Kept kept;
  if (!scripts_to_beat(config_).empty()) kept = keep(best, policy, summary);
  const std::string script =
      kept.script.empty() ? "" : fmt::format("--controller '{}' ", kept.script);
  return text + kept.text +
         fmt::format("; compare {} on seeds of your own with traffic_eval {}{}--controller {}\n",
                     script.empty() ? "the policy" : "policy and script",
                     options_of_foreign_settings(config_), script, "checkpoint:" + best.checkpoint);
}

/// Recommends the script in two cases: if it exceeds its limits by less than the policy, or if both
/// exceed them equally and the script gains more by over a standard error of the difference.
/// Otherwise it recommends the policy. The class Selection uses the same rule to choose among
/// policies (run/selection.h).
FinalComparison::Kept FinalComparison::keep(const Best& best, const SelectionEvaluation& policy,
                                            report::Summary& summary) {
  const SelectionEvaluation& script = runs_.final.script();
  Selection order;
  order.prefers(excess_of(script), script.gains);
  const bool policy_kept = order.prefers(excess_of(policy), policy.gains);
  const report::MeanInterval over = gain_over(policy, script);
  const std::vector<std::string> scripts = scripts_to_beat(config_);
  const std::string name = fmt::format("{}", fmt::join(scripts, ", "));
  const bool several = scripts.size() > 1;
  const char* first = config_.imitation.iterations > 0 ? "imitation"
                      : config_.env.vehicles_act()     ? "advice"
                                                       : "greedy";
  const std::string learned = best.learned_nothing_yet ? first : kind_.name;
  summary.result["script"] = name;
  put_gain(summary, "script_gain", script.gain);
  if (imitation_) put_gain(summary, "imitation_gain", *imitation_);
  put_gain(summary, "gain_over_script", over);
  summary.result["kept"] = policy_kept ? learned : "script " + name;
  const bool hands_over_script = !policy_kept && !several;
  summary.result["controller"] = hands_over_script ? name : "checkpoint:" + best.checkpoint;
  const std::string imitated =
      imitation_
          ? fmt::format("; right after imitation the policy gained {} on the selection seeds",
                        interval_text(*imitation_))
          : "";
  std::string kept = "the policy, from " + learned;
  if (std::ranges::all_of(policy.gains, [](double gain) { return gain == 0.0; })) {
    kept += ", which left the traffic as it was on every seed";
  }
  if (!policy_kept) {
    kept =
        several
            ? "the script of each scenario; only the policy is one controller for all of them"
            : fmt::format("the script {0}: use --controller '{0}' instead of the checkpoint", name);
  }
  return {.script = hands_over_script ? name : "",
          .text = fmt::format("\non the same seeds the script{} gain{} {}; the gain of the best "
                              "policy, from {}, minus this gain is {}{}{}\nkept: {}",
                              several ? "s" : " " + name, several ? "" : "s",
                              interval_text(script.gain), learned, interval_text(over), imitated,
                              by_scenario(policy, script, scripts, summary), kept)};
}

/// Text with one line for each scenario. It is empty if there is only one scenario.
std::string FinalComparison::by_scenario(const SelectionEvaluation& policy,
                                         const SelectionEvaluation& script,
                                         const std::vector<std::string>& scripts,
                                         report::Summary& summary) {
  std::string text;
  for (std::size_t s = 0; s < policy.by_scenario.size(); ++s) {
    const auto& [scenario, of_policy] = policy.by_scenario[s];
    const report::MeanInterval& of_script = script.by_scenario[s].second;
    put_gain(summary, "script_gain_" + scenario, of_script);
    text += fmt::format("\n  {}: {} gains {}, the policy {}", scenario, scripts[s],
                        interval_text(of_script), interval_text(of_policy));
  }
  return text;
}

void FinalComparison::save_to(checkpoint::Snapshot& snapshot) const {
  snapshot.put_real("comparison/best_excess", selection_.best_excess());
  snapshot.put_tensor("comparison/best_gains", selection_.best_gains());
  put_decides(snapshot, decides_);
  if (margin_) put_advice_margin(snapshot, margin_->value());
  if (!imitation_) return;
  snapshot.put_tensor(kImitationGain,
                      torch::tensor({imitation_->mean, imitation_->half_width}, torch::kDouble));
}

void FinalComparison::restore_from(const checkpoint::Snapshot& snapshot) {
  selection_.restore(snapshot.real("comparison/best_excess"),
                     snapshot.tensor("comparison/best_gains"));
  take_best(snapshot);
  if (!snapshot.contains(kImitationGain)) return;
  const torch::Tensor gain = snapshot.tensor(kImitationGain, {2}, at::kDouble);
  imitation_ =
      report::MeanInterval{.mean = gain[0].item<double>(), .half_width = gain[1].item<double>()};
}

void FinalComparison::take_best(const checkpoint::Snapshot& snapshot) {
  decides_ = decides_in(snapshot);
  if (!margin_) return;
  const double margin = advice_margin_in(snapshot);
  margin_ = margin > 0.0 ? std::optional<AdviceMargin>(margin) : std::nullopt;
}

report::NamedValues assessment_metrics(const Assessed& assessed) {
  report::NamedValues values = evaluation_figures(assessed.evaluation);
  values.emplace_back("eval/sampled", assessed.decides == Decides::kSampled ? 1.0 : 0.0);
  if (assessed.sampled_over_greedy) {
    values.emplace_back("eval/sampled_over_greedy", assessed.sampled_over_greedy->mean);
  }
  if (assessed.advice_margin > 0.0) {
    values.emplace_back("eval/advice_margin", assessed.advice_margin);
  }
  return values;
}

}  // namespace traffic::train
