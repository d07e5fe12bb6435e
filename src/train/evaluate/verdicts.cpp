/// Decides from the results of an evaluation which controller is best, and which controllers are
/// unsafe or commanded nothing.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "evaluate/figures.h"
#include "traffic/config/controller_spec.h"
#include "traffic/report/paired_statistics.h"

namespace traffic::train {
namespace {

/// The safety metrics for which the whole 95 % interval of the excess over `none` lies above the
/// limit.
std::vector<SafetyExcess> excesses_of(const EvaluationPlan& plan, const Episodes& episodes,
                                      std::size_t controller, std::size_t none) {
  std::vector<SafetyExcess> excesses;
  for (const Figure& figure : safety_figures()) {
    const bool has_limit = std::string_view(figure.name) != safety_figures().back().name;
    const double limit = has_limit ? plan.config.evaluation.safety_limit : 0.0;
    const auto more = excess_of(plan, episodes, controller, none, figure);
    if (more.low() > limit) excesses.push_back({figure.name, more.mean, more.half_width});
  }
  return excesses;
}

/// Gain of a controller minus gain of the best controller, if the two may be equally good.
/// @return nothing if the 95 % interval shows that the controller is worse, or if a single seed
///   gives no interval
std::optional<report::MeanInterval> level_of(const std::vector<double>& gains,
                                             const std::vector<double>& of_best) {
  const auto above = report::mean_interval(report::paired_differences(gains, of_best));
  if (!std::isfinite(above.half_width) || above.high() < 0.0) return std::nullopt;
  return above;
}

/// Whether an interval is narrow enough to show that two controllers are about as good: +-1
/// percentage point, or +- a quarter of the best controller's gain.
bool is_narrow(double half_width, double best_gain) {
  return half_width <= std::max(1.0, 0.25 * std::abs(best_gain));
}

std::int64_t jammed_runs_of(const EvaluationPlan& plan, const Episodes& episodes,
                            std::size_t controller) {
  const auto jammed = values_of(plan, episodes, controller,
                                [](const EvaluatedEpisode& e) { return e.jammed ? 1.0 : 0.0; });
  return std::count(jammed.begin(), jammed.end(), 1.0);
}

/// Says about how many seeds would narrow the interval to +-1 percentage point; empty if it is not
/// wider. The width of an interval is inversely proportional to the square root of the number of
/// seeds.
std::string seeds_text(double half_width, std::size_t seeds) {
  if (!std::isfinite(half_width) || half_width <= 1.0) return "";
  const double needed = static_cast<double>(seeds) * half_width * half_width;
  const double digits = std::pow(10.0, std::floor(std::log10(needed)) - 1.0);  // keeps two digits
  return fmt::format("; about {:.0f} seeds would narrow the interval to +-1",
                     digits * std::ceil(needed / digits));
}

/// Says why a gain may be due to chance; empty if its whole interval lies above 0.
std::string doubt_of(const ControllerVerdict& verdict, std::size_t seeds) {
  if (!std::isfinite(verdict.half_width)) return "; one seed gives no interval: use more seeds";
  if (verdict.gain - verdict.half_width > 0.0) return "";
  return "; the interval contains 0: use more seeds" + seeds_text(verdict.half_width, seeds);
}

std::string interval_text(double half_width) {
  return std::isfinite(half_width) ? fmt::format(" +- {:.2f}", half_width) : "";
}

}  // namespace

bool ControllerVerdict::safe() const {
  return std::all_of(excesses.begin(), excesses.end(), [](const SafetyExcess& excess) {
    return excess.figure == safety_figures().back().name;
  });
}

std::vector<ControllerVerdict> judge_controllers(const EvaluationPlan& plan,
                                                 const Episodes& episodes) {
  const auto none = index_of_none(plan);
  std::vector<ControllerVerdict> verdicts(plan.controllers.size());
  ControllerVerdict* best = nullptr;
  for (std::size_t c = 0; c < verdicts.size(); ++c) {
    ControllerVerdict& own = verdicts[c];
    const auto interventions = values_of(plan, episodes, c, [](const EvaluatedEpisode& e) {
      return static_cast<double>(e.score.interventions + e.score.signal_changes);
    });
    own.acted = std::any_of(interventions.begin(), interventions.end(),
                            [](double count) { return count > 0.0; });
    own.jammed_runs = jammed_runs_of(plan, episodes, c);
    if (!none) continue;
    own.jams = own.jammed_runs > jammed_runs_of(plan, episodes, *none);
    if (c != *none) {
      const auto gain = report::mean_interval(gains_of(plan, episodes, c, *none));
      own.gain = gain.mean;
      own.half_width = gain.half_width;
      own.excesses = excesses_of(plan, episodes, c, *none);
    }
    if (!own.may_be_recommended()) continue;
    if (best == nullptr || own.gain > best->gain) best = &own;
  }
  if (best == nullptr || verdicts.size() == 1) return verdicts;
  best->best = true;
  const auto of_best =
      gains_of(plan, episodes, static_cast<std::size_t>(best - verdicts.data()), *none);
  for (std::size_t c = 0; c < verdicts.size(); ++c) {
    ControllerVerdict& own = verdicts[c];
    if (c == *none || own.best || !own.may_be_recommended()) continue;
    own.level = level_of(gains_of(plan, episodes, c, *none), of_best);
    own.undecided = own.level && !is_narrow(own.level->half_width, best->gain);
  }
  return verdicts;
}

std::string verdict_text(const EvaluationPlan& plan, const Episodes& episodes) {
  const auto verdicts = judge_controllers(plan, episodes);
  const auto objective = scene::name_of(scene::objective_of(plan.config.env.objective));
  const std::size_t seeds = plan.seeds.size();
  std::string text;
  for (std::size_t c = 0; c < verdicts.size(); ++c) {
    if (verdicts[c].jammed_runs == 0) continue;
    text += fmt::format("{} jams in {} of {} runs: no vehicle arrives for five minutes\n",
                        short_name(plan.controllers[c]), verdicts[c].jammed_runs, seeds);
  }
  for (std::size_t c = 0; c < verdicts.size(); ++c) {
    const ControllerVerdict& own = verdicts[c];
    const std::string name = short_name(plan.controllers[c]);
    if (own.best && plan.controllers[c] == "none") {
      text += "best: none; no safe controller does better\n";
    } else if (own.best) {
      text += fmt::format("best: {}, {:+.2f}{} % of {}{}\n", name, own.gain,
                          interval_text(own.half_width), objective, doubt_of(own, seeds));
    } else if (own.level) {
      text += fmt::format("{} {} the best: its gain differs by {:+.2f}{} points{}\n", name,
                          own.undecided ? "cannot yet be told apart from" : "is level with",
                          own.level->mean, interval_text(own.level->half_width),
                          seeds_text(own.level->half_width, seeds));
    }
    for (const SafetyExcess& excess : own.excesses) {
      text += fmt::format("{}{}: {:.2f}{} more {} a run than without control\n", name,
                          own.safe() ? "" : " is not safe", excess.mean,
                          interval_text(excess.half_width), words_of(excess.figure));
    }
    if (!own.acted && plan.controllers[c] != "none") {
      const bool of_checkpoint = plan.controllers[c].starts_with("checkpoint:");
      const bool of_lights = config::sets_signals(plan.controllers[c]);
      text += fmt::format(
          "{} commanded {} in any run, so its metrics are those without control; traffic_doctor "
          "--scenario {} shows what controllers can command there\n",
          name,
          of_checkpoint ? "nothing"
          : of_lights   ? "no light"
                        : "no vehicle",
          plan.config.env.scenario);
    }
  }
  return text;
}

}  // namespace traffic::train
