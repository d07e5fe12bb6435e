#include "search/searcher.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "rollouts/baseline_runs.h"
#include "rollouts/outcomes.h"
#include "search/rounds.h"
#include "search/safer_scripts.h"
#include "traffic/config/controller_spec.h"
#include "traffic/config/scenario_mix.h"
#include "traffic/core/text.h"

namespace traffic::train {
namespace {

constexpr double kShareOfRounds = 0.55;  ///< share of the rounds in the time of a scenario

/// Orders safe scripts before unsafe ones, then by gain; the order is the same on all ranks.
bool is_better(const TriedScript& a, const TriedScript& b) {
  if (a.is_safe() != b.is_safe()) return a.is_safe();
  return a.gain != b.gain ? a.gain > b.gain : a.controller < b.controller;
}

/// Whether the seeds of a final comparison are too few: they show no gain, but one is likely.
bool needs_more_seeds(const std::vector<TriedScript>& finalists) {
  return std::ranges::none_of(finalists, &TriedScript::helps) &&
         std::ranges::any_of(finalists, [](const TriedScript& script) {
           return script.is_safe() && script.gain > 0.5 * script.half_width;
         });
}

double mean_of(const std::vector<EpisodeOutcome>& outcomes,
               double (scene::EpisodeScore::*value)() const) {
  double sum = 0.0;
  for (const EpisodeOutcome& outcome : outcomes) sum += (outcome.score.*value)();
  return sum / static_cast<double>(outcomes.size());
}

}  // namespace

Searcher::Searcher(const config::Config& config, const comm::MpiSession& session,
                   comm::Communicator& communicator)
    : config_(config),
      budget_(config.search.episodes > 0 ? 0.0 : config.search.minutes, communicator),
      runs_(config_, session, communicator, budget_) {}

Searcher::~Searcher() = default;

std::optional<SearchResult> Searcher::run(const std::vector<ScriptsToTry>& scripts) {
  for (const config::ScenarioShare& part : config::scenario_mix(config_.env)) {
    result_.scenarios.push_back({.scenario = part.scenario});
  }
  std::vector<Place> places;
  for (std::size_t s = 0; s < scripts.size(); ++s) {
    places.push_back({.search = result_.scenarios[s],
                      .scripts = scripts[s],
                      .scenario = static_cast<std::int64_t>(s)});
  }
  End end = look_at_traffic(places);
  for (std::size_t s = 0; end == End::kDone && s < places.size(); ++s) {
    share_time(places.size() - s, places[s]);
    end = search(places[s]);
  }
  runs_.close();
  if (end == End::kStopRequested) return std::nullopt;
  result_.episodes = runs_.episodes();
  result_.seconds = budget_.elapsed_s();
  result_.episode_s = budget_.episode_s();
  return result_;
}

/// One uncontrolled run for each simulation: the first seeds of every scenario.
Searcher::End Searcher::look_at_traffic(std::vector<Place>& places) {
  constexpr double kShareOfTime = 0.4;
  const auto count = static_cast<std::int64_t>(places.size());
  const std::int64_t each = std::max<std::int64_t>(2, runs_.num_envs() / count);
  End end = End::kDone;
  for (Place& place : places) {
    const SeedRange seeds{.scenario = place.scenario, .first = kFirstSearchSeed, .count = each};
    const auto nth = static_cast<double>(place.scenario + 1);
    const End own = runs_.look(seeds, kShareOfTime * nth / static_cast<double>(count), place.none);
    if (own == End::kStopRequested) return own;
    const auto& outcomes = place.none.outcomes;
    place.search.ocr_all = mean_of(outcomes, &scene::EpisodeScore::ocr_all);
    place.search.delay_s = mean_of(outcomes, &scene::EpisodeScore::delay_s);
    const auto saturated = std::ranges::count_if(outcomes, [&](const EpisodeOutcome& outcome) {
      return is_saturated(outcome.score, place.scripts.step_length_s);
    });
    place.search.saturated = static_cast<double>(saturated) / static_cast<double>(outcomes.size());
    end = own;
    if (end == End::kTimeIsOver) break;  // the simulations are in the middle of episodes
  }
  choose_objective(places);
  if (end == End::kTimeIsOver) {
    spdlog::warn(
        "search: {} uncontrolled episodes did not end in {}, {:.0f} % of search.minutes = {}, so "
        "that no script can be compared with them: the search ends here; give it more minutes, or "
        "make the episodes shorter (env.max_time_s)",
        each, human_duration(budget_.elapsed_s()), 100.0 * kShareOfTime, config_.search.minutes);
  }
  return end;
}

void Searcher::choose_objective(const std::vector<Place>& places) {
  result_.objective = config_.env.objective;
  if (result_.objective == "auto") {
    const bool saturated = std::ranges::any_of(
        places, [](const Place& place) { return place.search.saturated >= 0.5; });
    result_.objective = saturated ? "ocr" : "delay";
    spdlog::info("search: {}: env.objective = \"{}\"",
                 saturated ? "traffic does not get through" : "traffic gets through, delay is left",
                 result_.objective);
  }
  objective_ = scene::objective_of(result_.objective);
}

/// Divides the remaining time among the remaining scenarios. The last part of a scenario's time is
/// used only if a gain needs more seeds or a script needs a safer version.
void Searcher::share_time(std::size_t places_left, Place& place) const {
  if (!budget_.is_timed()) return;
  const double begin = budget_.spent_share();
  const double own = std::max(0.0, 1.0 - begin) / static_cast<double>(places_left);
  place.rounds_end = begin + kShareOfRounds * own;
  place.final_end = begin + 0.75 * own;
  place.end = begin + own;
}

std::int64_t Searcher::episodes_of_final() const {
  return (kFinalists + 1) * config_.search.final_episodes;
}

/// Plans as many scripts and seeds as search.episodes allows, or as fit the time.
std::vector<Round> Searcher::rounds_of(const Place& place) const {
  const auto scripts = static_cast<std::int64_t>(place.scripts.texts.size());
  const auto kinds = static_cast<std::int64_t>(place.scripts.kinds);
  if (budget_.is_timed()) return plan_rounds_within(scripts, budget_.fitting(place.rounds_end));
  const auto places = static_cast<std::int64_t>(result_.scenarios.size());
  const std::int64_t episodes = config_.search.episodes / places - episodes_of_final();
  return plan_rounds(scripts, kinds, std::max<std::int64_t>(0, episodes));
}

Searcher::End Searcher::search(Place& place) {
  const std::vector<Round> rounds = rounds_of(place);
  if (rounds.empty()) {
    spdlog::warn(
        "search: {}: an episode takes {}, so that no script can be compared with no control in "
        "the time that is left; give search.minutes more, or make the episodes shorter "
        "(env.max_time_s)",
        place.search.scenario, human_duration(budget_.episode_s()));
    return End::kDone;
  }
  const std::int64_t episodes = count_episodes(rounds);
  spdlog::info("search: {}: {} of {} scripts in {} episodes, about {}, and a final comparison",
               place.search.scenario, rounds.front().scripts, place.scripts.texts.size(), episodes,
               human_duration(budget_.episode_s() * static_cast<double>(episodes)));
  warn_of_few_scripts(rounds, place);
  std::vector<std::string> finalists;
  End end = run_rounds(rounds, place, finalists);
  if (end == End::kDone) end = compare_finalists(finalists, place.final_end, place);
  return end == End::kDone ? make_safe(place) : end;
}

/// Warns if fewer scripts than kinds of scripts can be tried, and names the time that all kinds
/// need.
void Searcher::warn_of_few_scripts(const std::vector<Round>& rounds, const Place& place) const {
  const auto kinds = static_cast<std::int64_t>(place.scripts.kinds);
  if (!budget_.is_timed() || rounds.front().scripts >= kinds) return;
  const auto scripts = static_cast<std::int64_t>(place.scripts.texts.size());
  const auto episodes = static_cast<double>(count_episodes(plan_rounds(scripts, kinds, 0)));
  constexpr double kMinute_s = 60.0;
  const double minutes =
      (budget_.elapsed_s() + budget_.episode_s() * episodes / kShareOfRounds) / kMinute_s;
  spdlog::warn(
      "search: {}: an episode takes {}, so that only {} of {} kinds of scripts can be tried; "
      "search.minutes = {:.0f} would try one of each",
      place.search.scenario, human_duration(budget_.episode_s()), rounds.front().scripts, kinds,
      std::ceil(minutes));
}

Searcher::End Searcher::run_rounds(const std::vector<Round>& rounds, Place& place,
                                   std::vector<std::string>& finalists) {
  ScenarioSearch& search = place.search;
  std::vector<ScriptRun> runs;
  for (std::int64_t i = 0; i < rounds.front().scripts; ++i) {
    runs.push_back({.controller = place.scripts.texts[static_cast<std::size_t>(i)]});
  }
  std::vector<ScriptRun*> alive;
  for (ScriptRun& run : runs) alive.push_back(&run);
  const double begin = budget_.is_timed() ? budget_.spent_share() : 0.0;
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    alive.resize(static_cast<std::size_t>(rounds[r].scripts));
    const std::string label =
        fmt::format("search: {}, round {} of {}, {} scripts on {} seeds", search.scenario, r + 1,
                    rounds.size(), rounds[r].scripts, rounds[r].seeds);
    const SeedRange seeds{.scenario = place.scenario,
                          .first = kFirstSearchSeed + static_cast<std::uint64_t>(place.round_seeds),
                          .count = rounds[r].seeds};
    const double part = static_cast<double>(r + 1) / static_cast<double>(rounds.size());
    const double until = begin + part * (place.rounds_end - begin);
    if (const End end = runs_.run(label, seeds, until, place.none, alive); end != End::kDone) {
      return end;
    }
    place.round_seeds = static_cast<std::int64_t>(alive.front()->outcomes.size());
    std::ranges::sort(alive, [&](const ScriptRun* a, const ScriptRun* b) {
      return is_better(compared(*a, place.none, place), compared(*b, place.none, place));
    });
    const TriedScript best = compared(*alive.front(), place.none, place);
    spdlog::info("{}: best {}, {:+.2f} +- {:.2f} %", label, best.controller, best.gain,
                 best.half_width);
  }
  for (const ScriptRun& run : runs) search.tried.push_back(compared(run, place.none, place));
  std::ranges::sort(search.tried, [](const TriedScript& a, const TriedScript& b) {
    return a.seeds != b.seeds ? a.seeds > b.seeds : is_better(a, b);
  });
  for (std::size_t i = 0; i < std::min<std::size_t>(kFinalists, alive.size()); ++i) {
    finalists.push_back(alive[i]->controller);
  }
  return End::kDone;
}

/// Compares the finalists on seeds that they were not chosen on. If these are too few to show a
/// gain, it uses up to four times as many.
Searcher::End Searcher::compare_finalists(const std::vector<std::string>& finalists,
                                          double until_share, Place& place) {
  ScriptRun none{.controller = "none"};
  std::vector<ScriptRun> runs;
  for (const std::string& controller : finalists) runs.push_back({.controller = controller});
  std::vector<ScriptRun*> all;
  for (ScriptRun& run : runs) all.push_back(&run);
  std::vector<TriedScript> results;
  const auto run_on = [&](const char* which, std::int64_t count, double until) {
    const SeedRange seeds{.scenario = place.scenario,
                          .first = kFirstFinalSeed + static_cast<std::uint64_t>(place.final_seeds),
                          .count = count};
    const std::int64_t known = std::ssize(none.outcomes);
    const End end = runs_.run(fmt::format("search: {}, {}", place.search.scenario, which), seeds,
                              until, none, all);
    if (end != End::kDone) return end;
    place.final_seeds += std::ssize(none.outcomes) - known;
    results.clear();
    for (const ScriptRun& run : runs) results.push_back(compared(run, none, place));
    return end;
  };
  const std::int64_t seeds = config_.search.final_episodes;
  End end = run_on("final comparison", seeds, until_share);
  if (end == End::kDone && needs_more_seeds(results)) {
    end = run_on("final comparison, more seeds", 3 * seeds, place.end);
  }
  if (end != End::kDone) return end;
  const TriedScript& best = preferred(runs, none, results);
  const TriedScript* before = place.search.found();
  const bool is_new_best = best.helps() && (before == nullptr || best.gain > before->gain);
  const std::string name = best.controller;
  std::ranges::copy(results, std::back_inserter(place.search.finalists));
  std::ranges::sort(place.search.finalists, is_better);
  if (is_new_best) place.search.best = name;
  return end;
}

/// Selects the best finalist. If two finalists help and their gains differ by less than a standard
/// error, it selects the one that commands less.
const TriedScript& Searcher::preferred(const std::vector<ScriptRun>& runs, const ScriptRun& none,
                                       const std::vector<TriedScript>& results) const {
  const auto best = std::ranges::min_element(results, is_better);
  const auto gains = [&](const TriedScript& script) {
    return gains_over(runs[static_cast<std::size_t>(&script - results.data())].outcomes,
                      none.outcomes, objective_);
  };
  for (const TriedScript& other : results) {
    if (!other.helps() || other.controlled_s >= best->controlled_s) continue;
    const auto difference =
        report::mean_interval(report::paired_differences(gains(*best), gains(other)));
    if (difference.mean <= difference.standard_error()) return other;
  }
  return *best;
}

/// If the script that gains most is unsafe, runs milder versions of it, and compares the best of
/// the safe versions with no control on fresh seeds.
Searcher::End Searcher::make_safe(Place& place) {
  const TriedScript* unsafe = place.search.unsafe_but_better();
  if (unsafe == nullptr) return End::kDone;
  const std::string name = unsafe->controller;
  std::vector<std::string> texts = safer_scripts(config::parse_controller(name));
  if (texts.empty()) return End::kDone;
  double until = place.end;
  if (budget_.is_timed()) {
    const double now = budget_.spent_share();
    until = now + 0.5 * std::max(0.0, place.end - now);
    const std::int64_t fitting = budget_.fitting(until) / kMinSeeds - 1;
    texts.resize(static_cast<std::size_t>(
        std::clamp<std::int64_t>(fitting, 0, static_cast<std::int64_t>(texts.size()))));
  }
  spdlog::info(
      "search: {}: {} gains {:+.2f} +- {:.2f} %, but {:.2f} more emergency stops, emergency "
      "brakings and collisions a run than evaluation.safety_limit allows; {}",
      place.search.scenario, name, unsafe->gain, unsafe->half_width, unsafe->safety_excess,
      texts.empty() ? "no time is left to look for a safe version (search.minutes)"
                    : fmt::format("looking for a safe version among {} milder ones", texts.size()));
  if (texts.empty()) return End::kDone;
  ScriptRun none{.controller = "none"};
  std::vector<ScriptRun> runs;
  for (const std::string& text : texts) runs.push_back({.controller = text});
  std::vector<ScriptRun*> all;
  for (ScriptRun& run : runs) all.push_back(&run);
  const SeedRange seeds{.scenario = place.scenario,
                        .first = kFirstSearchSeed + static_cast<std::uint64_t>(place.round_seeds),
                        .count = config_.search.final_episodes};
  const End end = runs_.run(fmt::format("search: {}, {} milder versions of {}",
                                        place.search.scenario, texts.size(), name),
                            seeds, until, none, all);
  if (end != End::kDone) return end;
  std::vector<TriedScript> results;
  for (const ScriptRun& run : runs) results.push_back(compared(run, none, place));
  std::ranges::sort(results, is_better);
  std::ranges::copy(results, std::back_inserter(place.search.tried));
  std::vector<std::string> finalists;
  for (const TriedScript& script : results) {
    const bool may_help = script.is_safe() && script.gain > 0.0;
    if (may_help && finalists.size() < kFinalists) finalists.push_back(script.controller);
  }
  if (finalists.empty()) return End::kDone;
  return compare_finalists(finalists, place.end, place);
}

TriedScript Searcher::compared(const ScriptRun& run, const ScriptRun& none,
                               const Place& place) const {
  return runs_.compare(run, none, objective_, place.scripts.step_length_s);
}

}  // namespace traffic::train
