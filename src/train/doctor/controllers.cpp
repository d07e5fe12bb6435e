/// Implements `traffic_doctor --controller`: compares controllers with no control in a scenario for
/// a limited time, and recommends what to use.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "doctor/findings.h"
#include "doctor/network.h"
#include "evaluate/figures.h"
#include "evaluate/recommendation.h"
#include "evaluate/trial.h"
#include "traffic/core/clock.h"
#include "traffic/core/text.h"
#include "traffic/os/affinity.h"
#include "traffic/report/paired_statistics.h"
#include "traffic/sim/network_study.h"
#include "traffic/train/evaluate/environment.h"

namespace traffic::train {
namespace {

/// "+1.20 +- 0.30", or "+1.20" with a single seed.
std::string signed_text(const report::MeanInterval& interval) {
  return std::isfinite(interval.half_width)
             ? fmt::format("{:+.2f} +- {:.2f}", interval.mean, interval.half_width)
             : fmt::format("{:+.2f}", interval.mean);
}

/// Chooses the objective of the comparison if the user has not set env.objective. If the network is
/// not saturated, all vehicles get through with every controller. The trial then compares the
/// delay.
void choose_objective(const config::CommonOptions& options, double step_length_s, Trial& trial) {
  config::Env& env = trial.plan.config.env;
  if (!options.config_path.empty() || is_set(options, "env.objective")) return;
  const auto uncontrolled = std::span(trial.episodes).first(trial.plan.seeds.size());
  const auto saturated = std::ranges::count_if(uncontrolled, [&](const EvaluatedEpisode& episode) {
    return is_saturated(episode.score, step_length_s);
  });
  if (2 * saturated < std::ssize(uncontrolled)) env.objective = "delay";
}

std::string seeds_text(std::size_t seeds) {
  return fmt::format("{} seed{}", seeds, seeds == 1 ? "" : "s");
}

Finding describe_trial(const Trial& trial, double whole_s, double minutes) {
  Finding finding{.subject = "trial"};
  if (trial.is_stopped) {
    finding.verdict = Verdict::kWarning;
    finding.found = fmt::format("stopped after {}; ", human_duration(trial.seconds));
  }
  if (trial.plan.seeds.empty()) {
    finding.verdict = Verdict::kWarning;
    finding.found +=
        fmt::format("no episode can be compared after {}", human_duration(trial.seconds));
    return finding;
  }
  finding.found += fmt::format(
      "{} under each controller, each with {:g} s of traffic, simulated in {}",
      seeds_text(trial.plan.seeds.size()), trial.horizon_s, human_duration(trial.seconds));
  if (!trial.is_whole) {
    finding.verdict = Verdict::kWarning;
    constexpr std::size_t kWholeSeeds = 4;
    finding.found += fmt::format(
        "; whole episodes of {:g} s need more time, about --minutes {:g}; the network was full of "
        "traffic for {:g} s",
        whole_s, minutes_for_seeds(trial, kWholeSeeds, minutes), trial.full_s);
  }
  return finding;
}

Finding describe_gain(const Trial& trial, std::size_t controller) {
  const auto gain = [&](std::optional<scene::Objective> objective) {
    return report::mean_interval(gains_of(trial.plan, trial.episodes, controller, 0, objective));
  };
  const auto own = gain(std::nullopt);
  const auto objective = scene::objective_of(trial.plan.config.env.objective);
  std::string scores = fmt::format("{} % of ocr_all, {} % of delay_s",
                                   signed_text(gain(scene::Objective::kThroughput)),
                                   signed_text(gain(scene::Objective::kDelay)));
  if (measures_emissions(trial.plan)) {
    scores += fmt::format(", {} % of co2_g_per_km, {} % of electricity_wh_per_km",
                          signed_text(gain(scene::Objective::kCo2)),
                          signed_text(gain(scene::Objective::kElectricity)));
  }
  return {.subject = "gain",
          .found = fmt::format("{}: {} (positive is better); worst seed {:+.2f} % of {}",
                               trial.plan.controllers[controller], scores, own.least,
                               scene::name_of(objective))};
}

/// Compares the safety metrics of a controller with those without control. A mean increase above
/// evaluation.safety_limit gives a warning even if it may be due to chance.
Finding describe_safety(const Trial& trial, const ControllerVerdict& verdict,
                        const ControllerVerdict& of_none, std::size_t controller) {
  Finding finding{.subject = "safety"};
  finding.found =
      fmt::format("{}: per run, against no control:", trial.plan.controllers[controller]);
  const double limit = trial.plan.config.evaluation.safety_limit;
  bool is_above = false;
  for (const Figure& figure : safety_figures()) {
    const auto more = excess_of(trial.plan, trial.episodes, controller, 0, figure);
    finding.found += fmt::format(" {} {},", words_of(figure.name), signed_text(more));
    const bool has_limit = &figure != &safety_figures().back();
    is_above |= has_limit && more.mean > limit;
  }
  finding.found += fmt::format(" {} of {} runs jammed ({} without control)", verdict.jammed_runs,
                               trial.plan.seeds.size(), of_none.jammed_runs);
  if (!verdict.may_be_recommended()) {
    finding.verdict = Verdict::kWarning;
    finding.found += verdict.safe() ? "; more runs jammed than without control" : "; not safe";
  } else if (is_above) {
    finding.verdict = Verdict::kWarning;
    finding.found +=
        "; some of these numbers have increased, which may be chance: raise --minutes to find out";
  }
  return finding;
}

Finding describe_recommendation(const Trial& trial, double minutes) {
  const Recommendation recommendation = recommend(trial, minutes);
  nlohmann::ordered_json details{
      {"decided", recommendation.is_decided},
      {"use", recommendation.use ? trial.plan.controllers[*recommendation.use] : "none"},
      {"seconds", trial.seconds},
      {"seeds", trial.plan.seeds.size()},
      {"horizon_s", trial.horizon_s},
      {"whole_episodes", trial.is_whole},
      {"network_full_s", trial.full_s},
      {"stopped", trial.is_stopped},
      {"needed_minutes", recommendation.needed_minutes}};
  if (!trial.plan.seeds.empty()) {
    details["evaluation"] =
        nlohmann::ordered_json::parse(evaluation_json(trial.plan, trial.episodes));
  }
  return {.verdict = recommendation.is_decided ? Verdict::kOk : Verdict::kWarning,
          .subject = "recommendation",
          .found = recommendation.text,
          .details = details.dump()};
}

/// Checks the controllers and the scenario, then runs the comparison. It stops at the first
/// failure.
class Attempt {
 public:
  Attempt(const ControllersToTry& wish, const config::CommonOptions& options, const Say& say)
      : wish_(wish), options_(options), say_(say) {}

  ControllerTrial run() {
    if (succeeds("controller", [&] { prepare(); }) && succeeds("scenario", [&] { study(); }) &&
        exit_code(result_.findings) == ExitCode::kDone) {
      succeeds("trial", [&] { compare(); });
    }
    return std::move(result_);
  }

 private:
  /// Runs the function `work`. If it throws, the error becomes a finding.
  /// @return whether it did not throw
  bool succeeds(const char* subject, const std::function<void()>& work) {
    Finding finding = attempt(subject, [&] {
      work();
      return std::string();
    });
    if (finding.verdict != Verdict::kFailed) return true;
    result_.findings.push_back(std::move(finding));
    return false;
  }

  void prepare() {
    plan_.controllers = wish_.controllers;
    check_controllers(plan_.controllers);
    std::erase(plan_.controllers, "none");
    if (plan_.controllers.empty()) {
      throw ConfigError(
          "--controller: found only none, expected a controller to compare with no control");
    }
    plan_.config = evaluation_config(
        {.controllers = plan_.controllers, .scenarios = {wish_.scenario}}, options_, say_);
    plan_.config.env = env_in_scenario(plan_.config.env, wish_.scenario, options_, say_);
    plan_.controllers.insert(plan_.controllers.begin(), "none");
    plan_.jobs = os::num_cpus_available();
  }

  void study() {
    study_ = sim::study_network(plan_.config.env, wish_.scenario);
    add(describe_network(study_, plan_.config.env));
    add(judge_network(study_, plan_.config, {.controllers = plan_.controllers}));
  }

  void compare() {
    const TrialFrame frame{.seconds = 60.0 * wish_.minutes - clock_.seconds(),
                           .episode_s = sim::duration_s(study_, plan_.config.env).value(),
                           .step_length_s = study_.step_length_s};
    say_(fmt::format("comparing with no control for {}", human_duration(frame.seconds)));
    Trial trial = run_trial(plan_, frame);
    choose_objective(options_, frame.step_length_s, trial);
    result_.findings.push_back(describe_trial(trial, frame.episode_s, wish_.minutes));
    if (!trial.plan.seeds.empty()) {
      const auto verdicts = judge_controllers(trial.plan, trial.episodes);
      for (std::size_t c = 1; c < verdicts.size(); ++c) {
        result_.findings.push_back(describe_gain(trial, c));
        result_.findings.push_back(describe_safety(trial, verdicts[c], verdicts[0], c));
      }
      result_.table = overview_table(trial.plan, trial.episodes).to_text();
    }
    result_.findings.push_back(describe_recommendation(trial, wish_.minutes));
  }

  void add(const std::vector<Finding>& findings) {
    result_.findings.insert(result_.findings.end(), findings.begin(), findings.end());
  }

  const ControllersToTry& wish_;
  const config::CommonOptions& options_;
  const Say& say_;
  Stopwatch clock_;
  EvaluationPlan plan_;
  sim::NetworkStudy study_;
  ControllerTrial result_;
};

}  // namespace

ControllerTrial try_controllers(const ControllersToTry& wish, const config::CommonOptions& options,
                                const Say& say) {
  return Attempt(wish, options, say).run();
}

}  // namespace traffic::train
