#include "evaluate/recommendation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "evaluate/figures.h"
#include "policy/decides.h"
#include "traffic/config/controller_spec.h"
#include "traffic/report/paired_statistics.h"

namespace traffic::train {
namespace {

/// Maximum half-width of a gain's interval, in percentage points, with which an interval that
/// contains 0 shows that the controller has no effect.
constexpr double kNoEffect = 1.0;
constexpr std::size_t kNone = 0;  ///< index of the controller `none` in a trial

bool is_trained(const std::string& controller) {
  const auto parts = config::controller_parts(controller);
  return std::ranges::any_of(
      parts, [](std::string_view part) { return checkpoint_name(part).has_value(); });
}

/// Paired difference of the gains of two controllers, in percentage points: gain of `controller`
/// minus gain of `other`.
report::MeanInterval difference(const Trial& trial, std::size_t controller, std::size_t other) {
  return report::mean_interval(
      report::paired_differences(gains_of(trial.plan, trial.episodes, controller, kNone),
                                 gains_of(trial.plan, trial.episodes, other, kNone)));
}

/// Index of the controller that the trial recommends among those that help.
std::size_t preferred(const Trial& trial, const std::vector<std::size_t>& helpful) {
  const auto trained = std::ranges::find_if(
      helpful, [&](std::size_t c) { return is_trained(trial.plan.controllers[c]); });
  std::size_t chosen = trained == helpful.end() ? helpful.front() : *trained;
  for (const std::size_t other : helpful) {
    if (other != chosen && difference(trial, other, chosen).low() > 0.0) chosen = other;
  }
  return chosen;
}

/// Number of seeds after which the interval of a controller's gain is likely to exclude 0, or to be
/// narrow enough to show that there is no effect.
std::size_t needed_seeds(const Trial& trial, std::size_t controller) {
  constexpr std::size_t kFew = 5;
  constexpr std::size_t kMany = 100'000;
  if (trial.plan.seeds.size() < 2) return kFew;
  const auto gain = report::mean_interval(gains_of(trial.plan, trial.episodes, controller, kNone));
  const double wanted = std::max(kNoEffect, std::abs(gain.mean));
  for (std::size_t n = kFew; n < kMany; n += std::max<std::size_t>(1, n / 20)) {
    const double t = report::student_t_two_sided(0.95, static_cast<std::int64_t>(n) - 1);
    if (t * gain.deviation / std::sqrt(static_cast<double>(n)) <= wanted) return n;
  }
  return kMany;
}

std::string excess_text(const ControllerVerdict& verdict) {
  std::vector<std::string> parts;
  for (const SafetyExcess& excess : verdict.excesses) {
    if (excess.figure == safety_figures().back().name) continue;
    parts.push_back(fmt::format("{:.2f} +- {:.2f} more {}", excess.mean, excess.half_width,
                                words_of(excess.figure)));
  }
  return fmt::format("{} a run than no control", fmt::join(parts, " and "));
}

/// The conclusion about a controller in words, such as "greedy jams in 3 of 4 runs, and no control
/// in 0".
std::string reason_text(const Trial& trial, const std::vector<ControllerVerdict>& verdicts,
                        std::size_t controller) {
  const ControllerVerdict& own = verdicts[controller];
  const std::string& name = trial.plan.controllers[controller];
  switch (standing_of(trial, own)) {
    case Standing::kUnsafe:
      return fmt::format("{} is not safe: it causes {}", name, excess_text(own));
    case Standing::kJams:
      return fmt::format("{} jams in {} of {} runs, and no control in {}", name, own.jammed_runs,
                         trial.plan.seeds.size(), verdicts[kNone].jammed_runs);
    case Standing::kNoEffect:
      return own.acted
                 ? fmt::format("{} has no effect that matters: it {}", name, gain_text(trial, own))
                 : name + " commanded nothing";
    default:
      return fmt::format("{} {}", name, gain_text(trial, own));
  }
}

std::string reasons_text(const Trial& trial, const std::vector<ControllerVerdict>& verdicts,
                         const std::vector<std::size_t>& controllers) {
  std::vector<std::string> reasons;
  for (const std::size_t c : controllers) reasons.push_back(reason_text(trial, verdicts, c));
  return fmt::format("{}", fmt::join(reasons, "; "));
}

/// Says why the trial cannot decide about the undecided controllers.
std::string doubt_text(const Trial& trial, const std::vector<ControllerVerdict>& verdicts,
                       const std::vector<std::size_t>& undecided) {
  if (trial.plan.seeds.empty()) {
    return "no seed was simulated far enough under every controller";
  }
  if (!trial.shows_enough()) {
    return fmt::format("the episodes were cut after {:.0f} s, so that a later jam would not show",
                       trial.horizon_s);
  }
  std::string text = reasons_text(trial, verdicts, undecided);
  if (trial.plan.seeds.size() < 2) return text + " on one seed, which gives no interval";
  return text + ", which may be chance";
}

Recommendation undecided_yet(const Trial& trial, double minutes,
                             const std::vector<ControllerVerdict>& verdicts,
                             const std::vector<std::size_t>& undecided) {
  std::size_t seeds = 0;
  std::vector<std::string> names;
  for (const std::size_t c : undecided) {
    seeds = std::max(seeds, needed_seeds(trial, c));
    names.push_back(trial.plan.controllers[c]);
  }
  Recommendation result{.needed_minutes = minutes_for_seeds(trial, seeds, minutes)};
  result.text = fmt::format(
      "too early to say whether {} help{}: {}; about {:g} minute{} would be enough (--minutes "
      "{:g})",
      fmt::join(names, " and "), names.size() == 1 ? "s" : "",
      doubt_text(trial, verdicts, undecided), result.needed_minutes,
      result.needed_minutes == 1.0 ? "" : "s", result.needed_minutes);
  return result;
}

}  // namespace

Standing standing_of(const Trial& trial, const ControllerVerdict& verdict) {
  if (trial.plan.seeds.empty()) return Standing::kUndecided;
  if (!verdict.safe()) return Standing::kUnsafe;
  if (verdict.jams) return Standing::kJams;
  if (!trial.shows_enough() || !std::isfinite(verdict.half_width)) return Standing::kUndecided;
  if (!verdict.acted) return Standing::kNoEffect;
  if (verdict.gain - verdict.half_width > 0.0) return Standing::kHelps;
  if (verdict.gain + verdict.half_width < 0.0) return Standing::kWorsens;
  return verdict.half_width <= kNoEffect ? Standing::kNoEffect : Standing::kUndecided;
}

std::string gain_text(const Trial& trial, const ControllerVerdict& verdict) {
  const bool better = verdict.gain >= 0.0;
  const scene::Objective objective = scene::objective_of(trial.plan.config.env.objective);
  std::string change = better ? "reduces" : "raises";
  if (objective == scene::Objective::kThroughput) {
    change = better ? "raises" : "reduces";
    change += " the share of the demand that gets through";
  } else if (objective == scene::Objective::kDelay) {
    change += " the delay";
  } else if (objective == scene::Objective::kCo2) {
    change += " the CO2 per kilometre";
  } else if (objective == scene::Objective::kElectricity) {
    change += " the electric energy per kilometre";
  } else {
    change = fmt::format("{} {}", better ? "improves" : "worsens", scene::name_of(objective));
  }
  const std::string width =
      std::isfinite(verdict.half_width) ? fmt::format(" +- {:.2f}", verdict.half_width) : "";
  return fmt::format("{} by {:.2f}{} %", change, std::abs(verdict.gain), width);
}

double minutes_for_seeds(const Trial& trial, std::size_t seeds, double minutes) {
  constexpr double kReserve = 1.2;
  // If no episode has shown its speed, the text recommends this multiple of the trial's time.
  constexpr double kUnknown = 5.0;
  const double wanted = trial.whole_seed_s > 0.0
                            ? kReserve * trial.whole_seed_s * static_cast<double>(seeds) / 60.0
                            : kUnknown * minutes;
  const double needed = std::max(wanted, 1.5 * minutes);
  const double digit = needed < 10.0 ? 1.0 : std::pow(10.0, std::floor(std::log10(needed)) - 1.0);
  return digit * std::ceil(needed / digit);
}

Recommendation recommend(const Trial& trial, double minutes) {
  std::vector<ControllerVerdict> verdicts(trial.plan.controllers.size());
  if (!trial.plan.seeds.empty()) verdicts = judge_controllers(trial.plan, trial.episodes);
  std::vector<std::size_t> helpful;
  std::vector<std::size_t> undecided;
  std::vector<std::size_t> others;
  for (std::size_t c = kNone + 1; c < verdicts.size(); ++c) {
    const Standing standing = standing_of(trial, verdicts[c]);
    (standing == Standing::kHelps       ? helpful
     : standing == Standing::kUndecided ? undecided
                                        : others)
        .push_back(c);
  }
  if (helpful.empty() && !undecided.empty()) {
    return undecided_yet(trial, minutes, verdicts, undecided);
  }
  if (helpful.empty()) {
    return {.is_decided = true,
            .text = "leave the traffic as it is: " + reasons_text(trial, verdicts, others)};
  }
  const std::size_t chosen = preferred(trial, helpful);
  std::erase(helpful, chosen);
  Recommendation result{.use = chosen, .is_decided = true};
  result.text = fmt::format("use {}: it {}", trial.plan.controllers[chosen],
                            gain_text(trial, verdicts[chosen]));
  for (const std::size_t c : helpful) {
    const auto more = difference(trial, c, chosen);
    result.text += fmt::format("; {} also helps, its gain differs by {:+.2f} +- {:.2f} points",
                               trial.plan.controllers[c], more.mean, more.half_width);
  }
  for (const std::size_t c : undecided) {
    result.text += fmt::format("; too early to say whether {} helps", trial.plan.controllers[c]);
  }
  if (!others.empty()) result.text += "; " + reasons_text(trial, verdicts, others);
  return result;
}

}  // namespace traffic::train
