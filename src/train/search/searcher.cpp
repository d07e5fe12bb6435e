#include "search/searcher.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "rollouts/baseline_runs.h"
#include "rollouts/episode_bar.h"
#include "rollouts/outcomes.h"
#include "run/together.h"
#include "traffic/config/scenario_mix.h"
#include "traffic/core/clock.h"
#include "traffic/core/text.h"

namespace traffic::train {
namespace {

/// The safe first, then by gain; the same order on all ranks.
bool is_better(const TriedScript& a, const TriedScript& b) {
  if (a.is_safe() != b.is_safe()) return a.is_safe();
  return a.gain != b.gain ? a.gain > b.gain : a.controller < b.controller;
}

double mean_of(const std::vector<EpisodeOutcome>& outcomes,
               double (*of)(const scene::EpisodeScore&)) {
  double sum = 0.0;
  for (const EpisodeOutcome& outcome : outcomes) sum += of(outcome.score);
  return sum / static_cast<double>(std::max<std::size_t>(1, outcomes.size()));
}

/// Whether the rounds showed a gain that the seeds of the last comparison are too few to show.
bool needs_more_seeds(const ScenarioSearch& search) {
  return std::ranges::any_of(search.tried, &TriedScript::helps) &&
         std::ranges::none_of(search.finalists, &TriedScript::helps) &&
         std::ranges::any_of(search.finalists,
                             [](const TriedScript& script) { return script.gain > 0.0; });
}

}  // namespace

Searcher::Searcher(const config::Config& config, const comm::MpiSession& session,
                   comm::Communicator& communicator)
    : config_(config),
      communicator_(communicator),
      pool_(session, config_),
      collector_(config_, pool_, time_split_) {
  for (const config::ScenarioShare& part : config::scenario_mix(config_.env)) {
    result_.scenarios.push_back({.scenario = part.scenario});
    none_.push_back({.controller = "none"});
  }
}

Searcher::~Searcher() = default;

std::optional<SearchResult> Searcher::run(const std::vector<ScriptsToTry>& scripts) {
  const Stopwatch clock;
  for (const ScriptsToTry& one : scripts) step_lengths_s_.push_back(one.step_length_s);
  const auto run_all = [&] {
    if (!look_at_traffic()) return false;
    const std::int64_t episodes = episodes_of_rounds(scripts);
    for (std::size_t s = 0; s < scripts.size(); ++s) {
      if (!halve(scripts[s], episodes, result_.scenarios[s])) return false;
    }
    return true;
  };
  const bool ended = run_all();
  pool_.close();
  if (!ended) return std::nullopt;
  // The clock of rank 0 is for all.
  result_.seconds = communicator_.all_reduce_scalar(clock.seconds(), comm::ReduceOp::kMax);
  // The first few had waited for the simulations to start.
  result_.episode_s =
      std::min(result_.episode_s, result_.seconds / static_cast<double>(result_.episodes));
  return result_;
}

/// Uncontrolled runs, one for each simulation: the first seeds of every scenario.
bool Searcher::look_at_traffic() {
  const auto scenarios = static_cast<std::int64_t>(none_.size());
  const std::int64_t each = std::max<std::int64_t>(2, pool_.num_envs() / scenarios);
  const Stopwatch clock;
  for (std::int64_t s = 0; s < scenarios; ++s) {
    const auto place = static_cast<std::size_t>(s);
    ScenarioSearch& search = result_.scenarios[place];
    const Seeds seeds{.scenario = s, .first = kFirstSearchSeed, .count = each};
    if (!add_runs("search: no control", seeds, none_[place], {})) return false;
    const auto& outcomes = none_[place].outcomes;
    search.ocr_all = mean_of(outcomes, [](const auto& score) { return score.ocr_all(); });
    search.delay_s = mean_of(outcomes, [](const auto& score) { return score.delay_s(); });
    const auto saturated = std::ranges::count_if(outcomes, [&](const EpisodeOutcome& outcome) {
      return is_saturated(outcome.score, step_lengths_s_[place]);
    });
    search.saturated = static_cast<double>(saturated) / static_cast<double>(outcomes.size());
  }
  const double seconds = communicator_.all_reduce_scalar(clock.seconds(), comm::ReduceOp::kMax);
  result_.episode_s = seconds / static_cast<double>(each * scenarios);
  result_.objective = config_.env.objective;
  if (result_.objective == "auto") {
    const bool saturated = std::ranges::any_of(
        result_.scenarios, [](const ScenarioSearch& search) { return search.saturated >= 0.5; });
    result_.objective = saturated ? "ocr" : "delay";
    spdlog::info("search: {}: env.objective = \"{}\"",
                 saturated ? "traffic does not get through" : "traffic gets through, delay is left",
                 result_.objective);
  }
  objective_ = scene::objective_of(result_.objective);
  return true;
}

std::int64_t Searcher::final_episodes() const {
  return (kFinalists + 1) * config_.search.final_episodes;
}

/// For the rounds of each scenario: what is asked for, or what fits the minutes.
std::int64_t Searcher::episodes_of_rounds(const std::vector<ScriptsToTry>& scripts) const {
  const auto scenarios = static_cast<std::int64_t>(scripts.size());
  std::int64_t all = config_.search.episodes;
  if (all == 0) {
    constexpr double kMinute_s = 60.0;
    all = static_cast<std::int64_t>(config_.search.minutes * kMinute_s /
                                    std::max(1e-3, result_.episode_s));
  }
  const std::int64_t each = std::max<std::int64_t>(0, all / scenarios - final_episodes());
  std::int64_t least = 0;
  for (const ScriptsToTry& one : scripts) {
    const auto rounds = plan_rounds(static_cast<std::int64_t>(one.texts.size()),
                                    static_cast<std::int64_t>(one.kinds), each);
    least += count_episodes(rounds) + final_episodes();
  }
  const double needed_s = result_.episode_s * static_cast<double>(least);
  spdlog::info("search: {} episodes, about {}", least, human_duration(needed_s));
  if (least > all + all / 2) {
    spdlog::warn(
        "search: an episode takes {}, so that fewer than {} episodes, about {}, would say nothing; "
        "shorter ones: env.max_time_s, no search: search.minutes = 0",
        human_duration(result_.episode_s), least, human_duration(needed_s));
  }
  return each;
}

bool Searcher::halve(const ScriptsToTry& scripts, std::int64_t episodes, ScenarioSearch& search) {
  const auto scenario = &search - result_.scenarios.data();
  Entry& none = none_[static_cast<std::size_t>(scenario)];
  const auto rounds = plan_rounds(static_cast<std::int64_t>(scripts.texts.size()),
                                  static_cast<std::int64_t>(scripts.kinds), episodes);
  std::vector<Entry> entries;
  for (std::int64_t i = 0; i < rounds.front().scripts; ++i) {
    entries.push_back({.controller = scripts.texts[static_cast<std::size_t>(i)]});
  }
  std::vector<Entry*> alive;
  for (Entry& entry : entries) alive.push_back(&entry);
  const auto better = [&](const Entry* a, const Entry* b) {
    return is_better(judge(*a, none), judge(*b, none));
  };
  std::int64_t seeds = 0;
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    alive.resize(static_cast<std::size_t>(rounds[r].scripts));
    const std::string label =
        fmt::format("search: {}, round {} of {}, {} scripts on {} seeds", search.scenario, r + 1,
                    rounds.size(), rounds[r].scripts, rounds[r].seeds);
    const Seeds more{.scenario = scenario,
                     .first = kFirstSearchSeed + static_cast<std::uint64_t>(seeds),
                     .count = rounds[r].seeds};
    if (!add_runs(label, more, none, alive)) return false;
    seeds += rounds[r].seeds;
    std::ranges::sort(alive, better);
    const TriedScript best = judge(*alive.front(), none);
    spdlog::info("{}: best {}, {:+.2f} +- {:.2f} %", label, best.controller, best.gain,
                 best.half_width);
  }
  for (const Entry& entry : entries) search.tried.push_back(judge(entry, none));
  std::ranges::sort(search.tried, [](const TriedScript& a, const TriedScript& b) {
    return a.seeds != b.seeds ? a.seeds > b.seeds : is_better(a, b);
  });
  std::vector<std::string> finalists;
  for (std::size_t i = 0; i < std::min<std::size_t>(kFinalists, alive.size()); ++i) {
    finalists.push_back(alive[i]->controller);
  }
  return compare(finalists, search);
}

/// On seeds that they were not chosen on. Where the rounds showed a gain that these seeds are too
/// few to show, on four times as many. Of two that help and differ by less than a standard error,
/// the one that commands less.
bool Searcher::compare(const std::vector<std::string>& finalists, ScenarioSearch& search) {
  Entry none{.controller = "none"};
  std::vector<Entry> entries;
  for (const std::string& controller : finalists) entries.push_back({.controller = controller});
  std::vector<Entry*> all;
  for (Entry& entry : entries) all.push_back(&entry);
  Seeds seeds{.scenario = &search - result_.scenarios.data(),
              .first = kFirstFinalSeed,
              .count = config_.search.final_episodes};
  const std::string label = fmt::format("search: {}, final comparison", search.scenario);
  const auto run_and_judge = [&](const std::string& text) {
    if (!add_runs(text, seeds, none, all)) return false;
    search.finalists.clear();
    for (const Entry& entry : entries) search.finalists.push_back(judge(entry, none));
    return true;
  };
  if (!run_and_judge(label)) return false;
  if (needs_more_seeds(search)) {
    seeds.first += static_cast<std::uint64_t>(seeds.count);
    seeds.count *= 3;
    if (!run_and_judge(label + ", more seeds")) return false;
  }
  std::ranges::sort(search.finalists, is_better);
  if (!search.finalists.front().helps()) return true;
  search.best = search.finalists.front().controller;
  const TriedScript& second = search.finalists.back();
  if (!second.helps() || second.controlled_s >= search.finalists.front().controlled_s) return true;
  const auto outcomes_of = [&](const std::string& controller) -> const auto& {
    return std::ranges::find(entries, controller, &Entry::controller)->outcomes;
  };
  const auto difference = report::mean_interval(report::paired_differences(
      gains_over(outcomes_of(search.best), none.outcomes, objective_),
      gains_over(outcomes_of(second.controller), none.outcomes, objective_)));
  if (difference.mean <= difference.standard_error()) search.best = second.controller;
  return true;
}

/// Runs all of them, and no control where it has not run yet, on these seeds.
/// @return false if it was given up
bool Searcher::add_runs(const std::string& label, const Seeds& seeds, Entry& none,
                        const std::vector<Entry*>& entries) {
  const auto known = static_cast<std::int64_t>(none.outcomes.size());
  const auto first =
      static_cast<std::int64_t>(entries.empty() ? 0 : entries.front()->outcomes.size());
  std::vector<EpisodeRequest> mine;
  std::vector<Entry*> owner;  // of all requests
  const auto request = [&](Entry& entry, std::int64_t seed) {
    const auto order = static_cast<std::int64_t>(owner.size());
    owner.push_back(&entry);
    if (order % communicator_.size() != communicator_.rank()) return;
    mine.push_back({.order = order,
                    .traffic = {.seed = seeds.first + static_cast<std::uint64_t>(seed),
                                .scenario = seeds.scenario},
                    .controller = entry.controller});
  };
  for (std::int64_t i = 0; i < seeds.count; ++i) {
    if (first + i >= known) request(none, i);
    for (Entry* entry : entries) request(*entry, i);
  }
  Collected collected;
  together(communicator_, [&] {
    EpisodeBar progress(label, mine.size(), config_, communicator_.rank() == 0);
    collected =
        collector_.run(mine, {.may_give_up = true},
                       [&](std::size_t, const rollout::Period& period) { progress.add(period); });
  });
  if (communicator_.all_reduce_scalar(collected.given_up ? 1.0 : 0.0) > 0.0) return false;
  const auto total = static_cast<std::int64_t>(owner.size());
  const auto outcomes = share_outcomes(collected.outcomes, total, communicator_);
  for (std::size_t i = 0; i < owner.size(); ++i) owner[i]->outcomes.push_back(outcomes[i]);
  result_.episodes += total;
  return true;
}

TriedScript Searcher::judge(const Entry& entry, const Entry& none) const {
  const std::vector<EpisodeOutcome> others(
      none.outcomes.begin(),
      none.outcomes.begin() + static_cast<std::ptrdiff_t>(entry.outcomes.size()));
  const auto gain = report::mean_interval(gains_over(entry.outcomes, others, objective_));
  const auto mean_gain = [&](scene::Objective objective) {
    return report::mean_interval(gains_over(entry.outcomes, others, objective)).mean;
  };
  constexpr auto kBrakes = [](const scene::EpisodeScore& score) {
    return static_cast<double>(score.hard_brakes);
  };
  constexpr auto kControlled = [](const scene::EpisodeScore& score) {
    return static_cast<double>(score.cv_steps);
  };
  const double step_length_s =
      step_lengths_s_.at(static_cast<std::size_t>(entry.outcomes.front().traffic.scenario));
  return {.controller = entry.controller,
          .seeds = static_cast<std::int64_t>(entry.outcomes.size()),
          .gain = gain.mean,
          .half_width = gain.half_width,
          .ocr_gain = mean_gain(scene::Objective::kThroughput),
          .delay_gain = mean_gain(scene::Objective::kDelay),
          .safety_excess = safety_excess(entry.outcomes, others, config_.evaluation.safety_limit),
          .hard_brakes = mean_of(entry.outcomes, kBrakes) - mean_of(others, kBrakes),
          .controlled_s = step_length_s * mean_of(entry.outcomes, kControlled)};
}

}  // namespace traffic::train
