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

/// Share of search.minutes after which the uncontrolled runs at the beginning are given up.
constexpr double kShareOfLook = 0.5;

/// Share of a scenario's time that its rounds may take (rounds.h).
constexpr double kShareOfRounds = 0.55;

/// Whether script a comes before script b: safe scripts come before unsafe ones, then larger gains
/// before smaller ones. Names decide between equal gains, so all ranks get the same order.
bool is_better(const TriedScript& a, const TriedScript& b) {
  if (a.is_safe() != b.is_safe()) return a.is_safe();
  return a.gain != b.gain ? a.gain > b.gain : a.controller < b.controller;
}

/// Whether a final comparison needs more seeds: no script is shown to help yet, but a safe script
/// is likely to gain.
bool needs_more_seeds(const std::vector<TriedScript>& finalists) {
  return std::ranges::none_of(finalists, &TriedScript::helps) &&
         std::ranges::any_of(finalists, [](const TriedScript& script) {
           return script.is_safe() && script.gain > script.standard_error();
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
    places.push_back(
        {.search = result_.scenarios[s],
         .scripts = scripts[s],
         .scenario = static_cast<std::int64_t>(s),
         .look = {.marks = EpisodeMarks::of(scripts[s].episode_s, scripts[s].step_length_s),
                  .step_length_s = scripts[s].step_length_s}});
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
  result_.episode_s = whole_episode_s_ > 0.0 ? whole_episode_s_ : budget_.episode_s();
  return result_;
}

/// Runs the first seeds of every scenario without control and watches these runs. In all, there is
/// one run for each simulation. If the time is limited, there is one run for each CPU, because runs
/// that share CPUs would not get far in the first part of the time. Then chooses whether episodes
/// are pieces, and the objective.
Searcher::End Searcher::look_at_traffic(std::vector<Place>& places) {
  const auto count = static_cast<std::int64_t>(places.size());
  const int at_once = budget_.is_timed() ? runs_.num_parallel() : runs_.num_envs();
  const std::int64_t each = std::max<std::int64_t>(kMinSeeds, at_once / count);
  parallel_ = static_cast<int>(std::min<std::int64_t>(runs_.num_envs(), each * count));
  End end =
      look(places, each, [&] { return budget_.has_passed(kLookShare) && shows_pieces(places); });
  if (end == End::kStopRequested) return end;
  const double piece_s = budget_.is_timed() ? this->piece_s(places) : 0.0;
  if (piece_s > 0.0) {
    end = look_at_pieces(piece_s, places);
  } else if (end == End::kTimeIsOver) {
    runs_.restart();
    end = look(places, kMinSeeds, [&] { return budget_.has_passed(kShareOfLook); });
  }
  if (end == End::kStopRequested) return end;
  note_saturation(places);
  for (Place& place : places) {
    const auto& outcomes = place.none.outcomes;
    place.search.ocr_all = mean_of(outcomes, &scene::EpisodeScore::ocr_all);
    place.search.delay_s = mean_of(outcomes, &scene::EpisodeScore::delay_s);
    scene::Emissions emissions;
    for (const EpisodeOutcome& outcome : outcomes) emissions += outcome.score.emissions();
    if (!outcomes.empty()) {
      require_emissions(scene::objective_of(config_.env.objective), place.search.scenario,
                        emissions);
    }
    if (!place.search.is_whole()) place.none.outcomes.clear();  // they are not those of pieces
  }
  choose_objective(places);
  if (end == End::kTimeIsOver) {
    spdlog::warn(
        "search: {} uncontrolled episodes did not end in {}, {:.0f} % of search.minutes = {}, so "
        "that no script can be compared with them; the search ends here: raise search.minutes, or "
        "make the episodes shorter (env.max_time_s)",
        kMinSeeds * count, human_duration(budget_.elapsed_s()), 100.0 * kShareOfLook,
        config_.search.minutes);
  }
  return end;
}

/// Stores in what share of the latest uncontrolled runs the traffic was saturated.
void Searcher::note_saturation(std::vector<Place>& places) {
  for (Place& place : places) {
    const auto& outcomes = place.none.outcomes;
    const auto saturated = std::ranges::count_if(outcomes, [&](const EpisodeOutcome& outcome) {
      return is_saturated(outcome.score, place.scripts.step_length_s);
    });
    place.search.saturated = static_cast<double>(saturated) / static_cast<double>(outcomes.size());
  }
}

/// Whether the first runs can be ended early because episodes must be pieces, and the length of
/// pieces can be chosen. They must be pieces if too few whole episodes fit into the time. The
/// length can be chosen once the runs of this rank have simulated it, so that the speed is known.
/// Runs that will end soon continue, because whole runs show better whether the traffic is
/// saturated.
bool Searcher::shows_pieces(const std::vector<Place>& places) const {
  constexpr double kLatest = 0.25;  // share of the time
  const double left_s = budget_.left_s() / static_cast<double>(places.size());
  return std::ranges::any_of(places, [&](const Place& place) {
    const std::int64_t length = piece_length(place, left_s);
    if (length == place.look.marks.count) return false;
    if (budget_.has_passed(kLatest)) return true;
    const double until_latest_s = budget_.left_s() - budget_.seconds_of(1.0 - kLatest);
    double to_end_s = 0.0;
    for (const WatchedRun& run : place.look.watched) {
      if (!run.course.started) continue;
      to_end_s =
          std::max(to_end_s, seconds_of(run.course, place.look.marks.count) - run.course.elapsed_s);
    }
    return have_reached(place, length) && to_end_s > until_latest_s;
  });
}

/// Whether all runs of this rank that have started have passed a mark.
bool Searcher::have_reached(const Place& place, std::int64_t mark) {
  return std::ranges::all_of(place.look.watched, [&](const WatchedRun& run) {
    return !run.course.started || run.has_reached(mark);
  });
}

/// Runs the first seeds of all scenarios without control.
Searcher::End Searcher::look(std::vector<Place>& places, std::int64_t seeds,
                             const std::function<bool()>& gives_up) {
  std::vector<Look*> looks;
  for (Place& place : places) {
    place.none.outcomes.clear();
    place.look.seeds = {.scenario = place.scenario, .first = kFirstSearchSeed, .count = seeds};
    place.look.none = &place.none;
    looks.push_back(&place.look);
  }
  return runs_.look(looks, gives_up);
}

/// The length of the pieces of a scenario in intervals between marks (choose_piece_length()).
/// @param left_s real time that is left for the scenario
std::int64_t Searcher::piece_length(const Place& place, double left_s) const {
  const auto needed = EpisodesNeeded::of(static_cast<std::int64_t>(place.scripts.texts.size()),
                                         static_cast<std::int64_t>(place.scripts.kinds));
  return choose_piece_length(place.look.watched, place.look.marks, parallel_, needed, left_s);
}

/// Chooses the length of the pieces of all scenarios: the shortest one that any scenario needs.
/// @return simulated time; 0 if enough whole episodes fit
double Searcher::piece_s(const std::vector<Place>& places) const {
  // Uncontrolled runs up to this share of the time save the traffic in which the pieces begin.
  const double from = std::max(kSavedShare, budget_.spent_share());
  const double whole_left_s = budget_.seconds_of(1.0 - budget_.spent_share());
  const double scenarios = static_cast<double>(places.size());
  double shortest_s = 0.0;
  for (const Place& place : places) {
    const EpisodeMarks& marks = place.look.marks;
    if (piece_length(place, whole_left_s / scenarios) == marks.count) continue;
    const std::int64_t length =
        std::min(marks.count - 1, piece_length(place, budget_.seconds_of(1.0 - from) / scenarios));
    const double own_s = static_cast<double>(std::max<std::int64_t>(1, length)) * marks.interval_s;
    shortest_s = shortest_s > 0.0 ? std::min(shortest_s, own_s) : own_s;
  }
  return shortest_s;
}

/// Runs the first seeds of all scenarios without control once more, and lets them save the traffic
/// in which pieces begin. The runs end early at kSavedShare of the time, or later if they have not
/// completed a piece by then. All further episodes are pieces of the time that the runs have
/// covered.
/// @param piece_s simulated time of a piece
Searcher::End Searcher::look_at_pieces(double piece_s, std::vector<Place>& places) {
  const auto mark_of = [&](const Place& place) {
    const EpisodeMarks& marks = place.look.marks;
    return std::min(marks.count,
                    static_cast<std::int64_t>(std::llround(piece_s / marks.interval_s)));
  };
  runs_.save_pieces(piece_s);
  const End end = look(places, kMinSeeds, [&] {
    return budget_.has_passed(kShareOfLook) ||
           (budget_.has_passed(kSavedShare) && std::ranges::all_of(places, [&](const Place& place) {
              return have_reached(place, mark_of(place));
            }));
  });
  if (end == End::kStopRequested) return end;
  std::vector<std::int64_t> counts;
  whole_episode_s_ = 0.0;
  for (Place& place : places) {
    const EpisodeMarks& marks = place.look.marks;
    std::int64_t covered = marks.count;
    for (const WatchedRun& run : place.look.watched) {
      covered = std::min(covered, run.last_mark(marks));
    }
    const std::int64_t length = mark_of(place);
    if (covered < length) return End::kTimeIsOver;
    counts.push_back(runs_.can_save() ? covered / length : 1);
    const auto seconds = [&](std::int64_t of) {
      return piece_seconds(place.look.watched, marks, of, parallel_);
    };
    whole_episode_s_ += seconds(marks.count) / static_cast<double>(places.size());
    place.episode_s = seconds(length);
    if (length == marks.count) continue;
    place.search.episode_s = place.scripts.episode_s;
    place.search.piece_s = piece_s;
    place.search.pieces = counts.back();
    spdlog::info(
        "search: {}: a whole episode takes about {}, too long for search.minutes = {:g}; the "
        "search compares {}; each takes about {}",
        place.search.scenario, human_duration(seconds(marks.count)), config_.search.minutes,
        compared_part(place.search), human_duration(place.episode_s));
    warn_of_short_time(place);
  }
  runs_.run_pieces(std::move(counts));
  return End::kDone;
}

/// Warns if the network was not full for long in the time from which the pieces are.
void Searcher::warn_of_short_time(const Place& place) const {
  constexpr double kFullAWhile_s = 120.0;
  std::int64_t steady = WatchedRun::kNotSteady;
  for (const WatchedRun& run : place.look.watched) steady = std::max(steady, run.steady_mark);
  const double full_s =
      steady == WatchedRun::kNotSteady
          ? 0.0
          : place.search.covered_s() - static_cast<double>(steady) * place.look.marks.interval_s;
  if (full_s >= kFullAWhile_s) return;
  spdlog::warn(
      "search: {}: the network is full for only {:.0f} s of the first {:.0f} of {:.0f} s, so that "
      "the search may miss a script that helps against long jams; with a larger search.minutes "
      "than {:g} it also compares later parts of the episodes",
      place.search.scenario, full_s, place.search.covered_s(), place.search.episode_s,
      config_.search.minutes);
}

void Searcher::choose_objective(const std::vector<Place>& places) {
  result_.objective = config_.env.objective;
  if (result_.objective == "auto") {
    const bool saturated = std::ranges::any_of(
        places, [](const Place& place) { return place.search.saturated >= 0.5; });
    result_.objective = saturated ? "ocr" : "delay";
    spdlog::info("search: {}: env.objective = \"{}\"",
                 saturated ? "the traffic is saturated" : "the traffic is not saturated",
                 result_.objective);
  }
  objective_ = scene::objective_of(result_.objective);
}

/// Divides the remaining time among the remaining scenarios. The last quarter of a scenario's time
/// is a reserve: it is used if a gain needs more seeds or if a script needs a safer version.
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

/// Plans the rounds with as many scripts and seeds as search.episodes or the remaining time allows.
std::vector<Round> Searcher::rounds_of(const Place& place) const {
  const auto scripts = static_cast<std::int64_t>(place.scripts.texts.size());
  const auto kinds = static_cast<std::int64_t>(place.scripts.kinds);
  if (budget_.is_timed()) {
    // Number of episodes that fit before the final comparison, for which time is left.
    const std::int64_t fitting = budget_.fitting(place.end) - (kFinalists + 1) * kMinFinalSeeds;
    const std::int64_t fewest = Round{.scripts = 1, .seeds = kMinSeeds}.episodes();
    const std::int64_t episodes = budget_.fitting(place.rounds_end);
    return plan_rounds_within(scripts, std::min(episodes, std::max(fewest, fitting)));
  }
  const auto places = static_cast<std::int64_t>(result_.scenarios.size());
  const std::int64_t episodes = config_.search.episodes / places - episodes_of_final();
  return plan_rounds(scripts, kinds, std::max<std::int64_t>(0, episodes));
}

Searcher::End Searcher::search(Place& place) {
  if (place.episode_s > 0.0) budget_.measure(1, place.episode_s);
  const std::vector<Round> rounds = rounds_of(place);
  if (rounds.empty()) {
    spdlog::warn(
        "search: {}: an episode takes {}, so that no script can be compared with no control in "
        "the time that is left; raise search.minutes, or make the episodes shorter "
        "(env.max_time_s)",
        place.search.scenario, human_duration(budget_.episode_s()));
    return End::kDone;
  }
  const std::int64_t episodes = count_episodes(rounds);
  spdlog::info(
      "search: {}: tries {} of {} scripts in {} episodes, which take about {}; a final comparison "
      "follows",
      place.search.scenario, rounds.front().scripts, place.scripts.texts.size(), episodes,
      human_duration(budget_.episode_s() * static_cast<double>(episodes)));
  warn_of_few_scripts(rounds, place);
  std::vector<std::string> finalists;
  End end = run_rounds(rounds, place, finalists);
  if (end == End::kDone) end = compare_finalists(finalists, place.final_end, place);
  if (end == End::kDone) end = make_safe(place);
  if (end == End::kTimeIsOver) {
    spdlog::warn(
        "search: {}: episodes took much longer than expected, so that the search ends before its "
        "comparisons are complete; raise search.minutes",
        place.search.scenario);
  }
  return end;
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
      std::max(std::ceil(minutes), std::ceil(config_.search.minutes + 0.5)));
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
    alive.resize(std::min(alive.size(), static_cast<std::size_t>(rounds[r].scripts)));
    const std::string label =
        fmt::format("search: {}, round {} of {}, {} scripts on {} seeds", search.scenario, r + 1,
                    rounds.size(), rounds[r].scripts, rounds[r].seeds);
    const SeedRange seeds{.scenario = place.scenario,
                          .first = kFirstSearchSeed + static_cast<std::uint64_t>(place.round_seeds),
                          .count = rounds[r].seeds};
    const double part = static_cast<double>(r + 1) / static_cast<double>(rounds.size());
    const double until = begin + part * (place.rounds_end - begin);
    const bool drops_hopeless = budget_.is_timed() && r == 0 && seeds.count == kMinSeeds;
    const End end = drops_hopeless ? run_two_seeds(label, seeds, until, place, alive)
                                   : runs_.run(label, seeds, kMinSeeds, until, place.none, alive);
    if (end != End::kDone) return end;
    place.round_seeds = static_cast<std::int64_t>(alive.front()->outcomes.size());
    sort_by_gain(place, alive);
    const TriedScript best = compared(*alive.front(), place.none, place);
    spdlog::info("{}: best script {}, gain {:+.2f} +- {:.2f} %", label, best.controller, best.gain,
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

void Searcher::sort_by_gain(const Place& place, std::vector<ScriptRun*>& runs) const {
  std::ranges::sort(runs, [&](const ScriptRun* a, const ScriptRun* b) {
    return is_better(compared(*a, place.none, place), compared(*b, place.none, place));
  });
}

/// Runs the scripts on two seeds. After the first seed it drops the worse half of the scripts, but
/// no script that gains. This saves time, because scripts that jam the traffic run longest.
Searcher::End Searcher::run_two_seeds(const std::string& label, const SeedRange& seeds,
                                      double until_share, Place& place,
                                      std::vector<ScriptRun*>& alive) {
  SeedRange one = seeds;
  one.count = 1;
  End end = runs_.run(label, one, 1, until_share, place.none, alive);
  if (end != End::kDone) return end;
  sort_by_gain(place, alive);
  const std::size_t half = std::max<std::size_t>(kFinalists, (alive.size() + 1) / 2);
  while (alive.size() > half && compared(*alive.back(), place.none, place).gain < 0.0) {
    alive.pop_back();
  }
  ++one.first;
  return runs_.run(label, one, 1, until_share, place.none, alive);
}

/// Compares the finalists with no control on seeds that they were not chosen on. If these seeds are
/// too few to show a gain, it uses up to four times as many. If the time does not suffice for
/// kMinFinalSeeds seeds, it compares only the best finalist.
Searcher::End Searcher::compare_finalists(const std::vector<std::string>& finalists,
                                          double until_share, Place& place) {
  ScriptRun none{.controller = "none"};
  std::vector<ScriptRun> runs;
  for (const std::string& controller : finalists) runs.push_back({.controller = controller});
  std::int64_t at_least = kMinFinalSeeds;
  if (budget_.is_timed()) {
    const std::int64_t fitting = budget_.fitting(place.end);
    if (fitting < (std::ssize(runs) + 1) * kMinFinalSeeds) runs.resize(1);
    at_least = std::clamp(fitting / (std::ssize(runs) + 1), kMinSeeds, at_least);
  }
  std::vector<ScriptRun*> all;
  for (ScriptRun& run : runs) all.push_back(&run);
  std::vector<TriedScript> results;
  const auto run_on = [&](const char* which, std::int64_t count, std::int64_t minimum,
                          double until) {
    const SeedRange seeds{.scenario = place.scenario,
                          .first = kFirstFinalSeed + static_cast<std::uint64_t>(place.final_seeds),
                          .count = count};
    const std::int64_t known = std::ssize(none.outcomes);
    const End end = runs_.run(fmt::format("search: {}, {}", place.search.scenario, which), seeds,
                              minimum, until, none, all);
    if (end != End::kDone) return end;
    place.final_seeds += std::ssize(none.outcomes) - known;
    results.clear();
    for (const ScriptRun& run : runs) results.push_back(compared(run, none, place));
    return end;
  };
  const std::int64_t seeds = config_.search.final_episodes;
  End end = run_on("final comparison", seeds, at_least, until_share);
  if (end == End::kDone && needs_more_seeds(results)) {
    end = run_on("final comparison, more seeds", 3 * seeds, 0, place.end);
  }
  if (end == End::kStopRequested || results.empty()) return end;
  const TriedScript& best = preferred(runs, none, results);
  const TriedScript* before = place.search.found();
  const bool is_new_best = best.helps() && (before == nullptr || best.gain > before->gain);
  const std::string name = best.controller;
  std::ranges::copy(results, std::back_inserter(place.search.finalists));
  std::ranges::sort(place.search.finalists, is_better);
  if (is_new_best) place.search.best = name;
  return end;
}

/// Selects the best finalist that helps, or the best one if none helps. If another finalist helps,
/// commands less, and has a gain that is lower by at most a standard error of the difference, it
/// selects that finalist.
const TriedScript& Searcher::preferred(const std::vector<ScriptRun>& runs, const ScriptRun& none,
                                       const std::vector<TriedScript>& results) const {
  const auto best =
      std::ranges::min_element(results, [](const TriedScript& a, const TriedScript& b) {
        return a.helps() != b.helps() ? a.helps() : is_better(a, b);
      });
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
      "search: {}: {} gains {:+.2f} +- {:.2f} %, but causes {:.2f} more emergency stops, emergency "
      "brakings and collisions per run than evaluation.safety_limit allows; {}",
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
                            seeds, kMinSeeds, until, none, all);
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
