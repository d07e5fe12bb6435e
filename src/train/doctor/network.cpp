#include "doctor/network.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <utility>

#include "traffic/config/scenario_mix.h"
#include "traffic/core/clock.h"
#include "traffic/core/text.h"
#include "traffic/sim/env_options.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::train {
namespace {

constexpr std::size_t kShown = 4;  ///< maximum number of conflicts, types and routes to list
const sim::StudyUse kTraining{.controllers = {}, .learns = true};

/// "b (ramp gives way or ends; up goes first)"
std::string describe(const sim::ConflictStudy& conflict) {
  std::vector<std::string> approaches;
  for (const sim::ApproachStudy& approach : conflict.approaches) {
    approaches.push_back(fmt::format("{}{}{}", approach.edge,
                                     approach.minor   ? " gives way or ends"
                                     : approach.major ? " goes first"
                                                      : " gives way on some lanes",
                                     approach.lit ? ", after a light" : ""));
  }
  return fmt::format("{} ({})", conflict.id, fmt::join(approaches, "; "));
}

std::string conflicts_text(const sim::NetworkStudy& study) {
  std::string text = counted(static_cast<std::int64_t>(study.conflicts.size()), "conflict");
  for (std::size_t i = 0; i < std::min(kShown, study.conflicts.size()); ++i) {
    text += (i == 0 ? ": " : ", ") + describe(study.conflicts[i]);
  }
  if (study.conflicts.size() > kShown) {
    text += fmt::format(" and {} more", study.conflicts.size() - kShown);
  }
  return text;
}

/// The largest shares of a sum in words: "main 80 %, on_ramp 20 %". If all shares are below 1 %,
/// the text only says how many there are.
std::string largest_shares(std::vector<std::pair<double, std::string>> parts, double sum) {
  std::sort(parts.begin(), parts.end(), std::greater<>());
  if (!parts.empty() && parts.front().first < 0.01 * sum) {
    return fmt::format("{} of less than 1 % each", parts.size());
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, parts.size()); ++i) {
    text += fmt::format("{}{} {:.0f} %", i == 0 ? "" : ", ", parts[i].second,
                        100.0 * parts[i].first / sum);
  }
  if (parts.size() > kShown) text += fmt::format(" and {} more", parts.size() - kShown);
  return text;
}

std::string demand_text(const sim::NetworkStudy& study) {
  std::vector<std::pair<double, std::string>> types;
  for (const auto& [name, demand] : study.types) types.emplace_back(demand.vehicles, name);
  std::vector<std::pair<double, std::string>> routes;
  for (const auto& [name, vehicles] : study.routes) routes.emplace_back(vehicles, name);
  return fmt::format(
      "{:.0f} vehicles; types {}; routes {}; {}", study.vehicles,
      largest_shares(std::move(types), study.vehicles),
      largest_shares(std::move(routes), study.vehicles),
      study.random_vehicles > 0 ? "varies with the seed" : "the same with every seed");
}

std::string lights_text(const sim::NetworkStudy& study) {
  std::string text = counted(study.lights, "light");
  if (study.trainable_lights == study.lights) return text;
  return text + fmt::format(", {} of which {} two greens or more to choose from",
                            study.trainable_lights, study.trainable_lights == 1 ? "has" : "have");
}

std::string time_text(const sim::NetworkStudy& study, const config::Env& env) {
  const auto duration = sim::duration_s(study, env);
  return fmt::format(
      "{} from {:g} s in steps of {:g} s, {}",
      duration ? fmt::format("{:g} s", *duration) : "no end", study.begin_s, study.step_length_s,
      study.time_to_teleport_s > 0 ? fmt::format("teleports after {:g} s", study.time_to_teleport_s)
                                   : "no teleports");
}

/// Lists for each command the places where it can help.
std::string commands_text(const sim::NetworkStudy& study) {
  std::int64_t minor = 0;
  std::int64_t major = 0;
  std::int64_t yielding = 0;
  std::int64_t wide = 0;
  for (const sim::ConflictStudy& conflict : study.conflicts) {
    for (const sim::ApproachStudy& approach : conflict.approaches) {
      minor += approach.minor ? 1 : 0;
      major += approach.major ? 1 : 0;
      yielding += approach.may_yield ? 1 : 0;
      wide += approach.lanes > 1 ? 1 : 0;
    }
  }
  return fmt::format(
      "stop (meter, let_in): {} giving way or ending; slow (vsl): {} going first; arrive_late "
      "(yield): {} meeting one released by a light; left, right (sort): {} with several lanes; "
      "slow, hold, fast: before every conflict",
      counted(minor, "approach", "es"), counted(major, "approach", "es"),
      counted(yielding, "main stream"), counted(wide, "approach", "es"));
}

/// Names the conflict with the most vehicles per hour and exit lane. Empty if the files contain no
/// routes, so that these numbers are unknown.
std::string load_text(const sim::NetworkStudy& study, double duration_s) {
  const sim::ConflictStudy* busiest = nullptr;
  double most_vph = 0.0;
  for (const sim::ConflictStudy& conflict : study.conflicts) {
    double vehicles = 0.0;
    for (const auto& approach : conflict.approaches) vehicles += approach.vehicles;
    const double vph = vehicles * 3600.0 / duration_s / std::max(1, conflict.exit_lanes);
    if (vph <= most_vph) continue;
    most_vph = vph;
    busiest = &conflict;
  }
  if (busiest == nullptr) return "";
  return fmt::format("; the busiest conflict is {}, with {:.0f} vehicles per hour and exit lane",
                     busiest->id, most_vph);
}

/// Simulates without control for at most 5 seconds of real time, not counting the time for loading.
/// @param commands whether vehicles will receive commands
Finding try_out(const sim::NetworkStudy& study, const config::Config& config, bool commands) {
  constexpr double kMost_s = 5.0;
  sim::SumoEnv env(sim::env_options(config.env));
  const Stopwatch clock;
  const scene::CandidateRule rule = sim::candidate_rule(config);
  std::set<std::uint32_t> candidates;
  std::vector<scene::Candidate> now;
  while (!env.done() && clock.seconds() < kMost_s) {
    env.step();
    scene::find_candidates(env.state(), rule, now);
    for (const scene::Candidate& one : now) {
      candidates.insert(env.state().vehicles()[static_cast<std::size_t>(one.node)].id);
    }
  }
  const scene::EpisodeScore& score = env.score();
  const double duration_s = sim::duration_s(study, config.env).value_or(env.time_s());
  Finding finding{
      .subject = "run",
      .found = fmt::format(
          "{:.0f} s{} without control took {}: ocr_all {:.3f}, {:.0f} s of delay per "
          "vehicle, {} of {} vehicles wait to enter{}{}{}",
          env.time_s(), env.done() ? "" : " of the episode", human_duration(clock.seconds()),
          score.ocr_all(), score.delay_s(), score.waiting, score.demand(),
          score.discarded > 0 ? fmt::format(", {} were deleted while they waited", score.discarded)
                              : "",
          commands ? fmt::format("; {} connected vehicles came within {:g} m of a conflict",
                                 candidates.size(), config.env.zone_m)
                   : "",
          load_text(study, std::max(1.0, duration_s)))};
  if (score.departed == 0) {
    finding.verdict = Verdict::kWarning;
    finding.found += "; no vehicle has entered in that time, so possible gains are unknown";
  } else if (commands && candidates.empty()) {
    finding.verdict = Verdict::kFailed;
    finding.code = ExitCode::kConfig;
    finding.found +=
        ": no vehicle can be commanded; raise env.zone_m, or name more types in env.cv_types";
  } else if (!scene::is_steady(score, env.step_length_s())) {
    finding.found +=
        "; the network is still filling, so whether the traffic is saturated is not known yet";
  } else {
    const bool saturated = scene::is_saturated(score, env.step_length_s());
    finding.found +=
        fmt::format("; {}saturated{}: control can improve {}delay_s", saturated ? "" : "not ",
                    env.done() ? "" : " so far", saturated ? "ocr_all and " : "");
  }
  return finding;
}

Finding to_finding(const sim::StudyFinding& found) {
  Finding finding{.subject = found.key, .found = found.text()};
  if (found.severity == sim::Severity::kWarning) finding.verdict = Verdict::kWarning;
  if (found.severity == sim::Severity::kError) {
    finding.verdict = Verdict::kFailed;
    finding.code = ExitCode::kConfig;
  }
  return finding;
}

/// If the lights can be trained, adds a finding that says so. Call it if the user has not set
/// env.agents. If `findings` contains a failure, the vehicles cannot be trained: the function then
/// turns failures into warnings, because the lights can still act.
/// @param config the lights become its only agents if the vehicles cannot be trained
void consider_lights(const sim::NetworkStudy& study, config::Config& config,
                     std::vector<Finding>& findings) {
  config::Config with_lights = config;
  with_lights.env.agents = {"lights"};
  if (exit_code(judge_network(study, with_lights, kTraining)) != ExitCode::kDone) return;
  if (exit_code(findings) == ExitCode::kDone) {
    findings.push_back(
        {.subject = "signals",
         .found = fmt::format("{}, alone (configs/any.toml with env.agents = [\"lights\"]) or "
                              "together with the vehicles (configs/joint.toml): "
                              "docs/guide/traffic-lights.md",
                              study.trainable_lights == 1 ? "the light can be trained as well"
                                                          : "the lights can be trained as well")});
    return;
  }
  config = with_lights;
  for (Finding& finding : findings) {
    if (finding.verdict == Verdict::kFailed) finding.verdict = Verdict::kWarning;
  }
  findings.push_back(
      {.subject = "signals",
       .found = fmt::format("{}: traffic_train configs/any.toml --set env.scenario={} "
                            "--set 'env.agents=[\"lights\"]' (docs/guide/traffic-lights.md)",
                            study.trainable_lights == 1
                                ? "the light can be controlled and trained as it is"
                                : "the lights can be controlled and trained as they are",
                            study.scenario)});
}

std::vector<Finding> examine_one(config::Config config, Actors actors) {
  const sim::NetworkStudy study = sim::study_network(config.env, config.env.scenario);
  std::vector<Finding> findings = describe_network(study, config.env);
  std::vector<Finding> verdicts = judge_network(study, config, kTraining);
  if (actors == Actors::kAny) consider_lights(study, config, verdicts);
  findings.insert(findings.end(), verdicts.begin(), verdicts.end());
  if (exit_code(findings) == ExitCode::kDone) {
    findings.push_back(try_out(study, config, config.env.vehicles_act()));
  }
  return findings;
}

}  // namespace

std::vector<Finding> describe_network(const sim::NetworkStudy& study, config::Env& env) {
  const auto said = sim::set_the_obvious(study, env);
  std::vector<Finding> findings{{.subject = "scenario", .found = study.sumocfg.string()},
                                {.subject = "conflicts", .found = conflicts_text(study)},
                                {.subject = "lights", .found = lights_text(study)}};
  if (study.vehicles > 0) findings.push_back({.subject = "demand", .found = demand_text(study)});
  findings.push_back({.subject = "time", .found = time_text(study, env)});
  findings.push_back({.subject = "commands", .found = commands_text(study)});
  for (const sim::StudyFinding& one : said) findings.push_back(to_finding(one));
  return findings;
}

std::vector<Finding> judge_network(const sim::NetworkStudy& study, const config::Config& config,
                                   const sim::StudyUse& use) {
  std::vector<Finding> findings;
  for (const auto& one : sim::judge(study, config, use)) findings.push_back(to_finding(one));
  return findings;
}

std::vector<Finding> examine_network(const config::Config& config, Actors actors) {
  std::vector<Finding> findings;
  for (const config::ScenarioShare& part : config::scenario_mix(config.env)) {
    config::Config of_scenario = config;
    of_scenario.env.scenario = part.scenario;
    of_scenario.env.scenarios.clear();
    try {
      for (Finding& finding : examine_one(of_scenario, actors))
        findings.push_back(std::move(finding));
    } catch (const Error& error) {
      findings.push_back({.verdict = Verdict::kFailed,
                          .subject = "scenario",
                          .found = error.what(),
                          .code = error.code()});
    }
  }
  return findings;
}

}  // namespace traffic::train
