#include "search/script_runs.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <utility>

#include "rollouts/baseline_runs.h"
#include "rollouts/episode_bar.h"
#include "rollouts/outcomes.h"
#include "run/together.h"
#include "search/rounds.h"
#include "traffic/config/scenario_mix.h"
#include "traffic/core/clock.h"
#include "traffic/core/hash.h"
#include "traffic/core/signals.h"
#include "traffic/os/affinity.h"

namespace traffic::train {
namespace {

double mean_of(const std::vector<EpisodeOutcome>& outcomes,
               double (*value)(const scene::EpisodeScore&)) {
  double sum = 0.0;
  for (const EpisodeOutcome& outcome : outcomes) sum += value(outcome.score);
  return sum / static_cast<double>(std::max<std::size_t>(1, outcomes.size()));
}

}  // namespace

/// A list of episodes to run, which is the same on all ranks. The episodes are divided among the
/// ranks in turn.
class ScriptRuns::Requests {
 public:
  explicit Requests(comm::Communicator& communicator) : communicator_(communicator) {}

  void add(const rollout::EpisodeSeed& traffic, ScriptRun& run) {
    const std::int64_t order = total();
    owners_.push_back(&run);
    if (order % communicator_.size() != communicator_.rank()) return;
    mine_.push_back({.order = order, .traffic = traffic, .controller = run.controller});
    latest_.push_back({.order = order, .traffic = traffic, .score = {}});
  }
  /// Keeps the latest score of a request of this rank.
  void note(std::size_t request, const scene::EpisodeScore& score) {
    latest_[request].score = score;
  }
  /// Requests of this rank.
  [[nodiscard]] const std::vector<EpisodeRequest>& mine() const { return mine_; }
  /// Number of requests of all ranks.
  [[nodiscard]] std::int64_t total() const { return std::ssize(owners_); }
  /// Appends the outcomes to the scripts that requested them. Collective.
  void hand_out(const std::vector<EpisodeOutcome>& outcomes_of_rank) {
    const auto outcomes = share_outcomes(outcomes_of_rank, total(), communicator_);
    for (std::size_t i = 0; i < owners_.size(); ++i) owners_[i]->outcomes.push_back(outcomes[i]);
  }
  /// Like hand_out(), but with the scores that the episodes have reached so far.
  void hand_out_scores() { hand_out(latest_); }

 private:
  comm::Communicator& communicator_;
  std::vector<EpisodeRequest> mine_;    ///< requests of this rank
  std::vector<EpisodeOutcome> latest_;  ///< [requests of this rank] their latest outcomes
  std::vector<ScriptRun*> owners_;      ///< the script of each request of all ranks
};

ScriptRuns::ScriptRuns(const config::Config& config, const comm::MpiSession& session,
                       comm::Communicator& communicator, SearchBudget& budget)
    : config_(config), session_(session), communicator_(communicator), budget_(budget) {
  start();
}

void ScriptRuns::start() {
  pool_.emplace(session_, config_);
  collector_.emplace(config_, *pool_, time_split_);
}

void ScriptRuns::restart() {
  pool_->close();
  start();
}

bool ScriptRuns::can_save() const {
  return !config_.episodes.baseline_cache.empty() && config_.env.beside.empty();
}

void ScriptRuns::save_pieces(double piece_s) {
  restart();
  // No other search may use the same folder, since its pieces may have another length.
  const std::string name = communicator_.broadcast_string(
      fmt::format("search {} {}", getpid(),
                  std::chrono::system_clock::now().time_since_epoch().count()),
      0);
  for (std::size_t i = 0; i < config::scenario_mix(config_.env).size(); ++i) {
    stores_.push_back(
        {.piece_s = piece_s, .key = xxh3_64(fmt::format("{} {}", name, i)), .saves = can_save()});
  }
}

void ScriptRuns::run_pieces(std::vector<std::int64_t> counts) {
  restart();
  for (rollout::PieceStore& store : stores_) store.saves = false;
  num_pieces_ = std::move(counts);
}

void ScriptRuns::close() {
  pool_->close();
  together(communicator_, [&] {
    if (communicator_.rank() != 0 || !can_save()) return;
    for (const rollout::PieceStore& store : stores_) {
      std::error_code ignored;  // at worst the files stay in the cache
      std::filesystem::remove_all(rollout::piece_folder(config_.episodes.baseline_cache, store.key),
                                  ignored);
    }
  });
}

/// The traffic of a seed. If episodes are pieces, consecutive seeds have pieces that are spread
/// evenly over the episode, and alternate between the uncontrolled runs that saved the traffic.
rollout::EpisodeSeed ScriptRuns::traffic_of(const SeedRange& seeds, std::int64_t seed) const {
  rollout::EpisodeSeed traffic{.seed = seeds.first + static_cast<std::uint64_t>(seed),
                               .scenario = seeds.scenario};
  traffic.saved_seed = traffic.seed;
  if (num_pieces_.empty()) return traffic;
  // The fractional parts of multiples of the golden ratio are spread evenly between 0 and 1.
  constexpr double kGoldenRatio = 0.618033988749895;
  const double multiple = static_cast<double>(traffic.seed - kFirstSearchSeed + 1) * kGoldenRatio;
  const auto count = num_pieces_.at(static_cast<std::size_t>(seeds.scenario));
  traffic.piece =
      static_cast<std::int64_t>((multiple - std::floor(multiple)) * static_cast<double>(count));
  traffic.saved_seed = kFirstSearchSeed + traffic.seed % static_cast<std::uint64_t>(kMinSeeds);
  return traffic;
}

/// Runs the requested episodes of all ranks. Collective.
/// @return whether all episodes ended before `gives_up` returned true on a rank
bool ScriptRuns::execute(const std::string& label, const rollout::Collector::Stop& gives_up,
                         Requests& requests, const OnPeriod& on_period) {
  Collected collected;
  Behaviour behaviour;
  behaviour.gives_up = gives_up;
  behaviour.stores = stores_;
  const Stopwatch clock;
  together(communicator_, [&] {
    EpisodeBar progress(label, requests.mine().size(), config_, communicator_.rank() == 0);
    collected = collector_->run(requests.mine(), behaviour,
                                [&](std::size_t i, const rollout::Period& period) {
                                  requests.note(i, period.score);
                                  if (on_period) on_period(i, period);
                                  progress.add(period);
                                });
  });
  episodes_ += requests.total();
  budget_.measure(requests.total(),
                  communicator_.all_reduce_scalar(clock.seconds(), comm::ReduceOp::kMax));
  if (communicator_.all_reduce_scalar(collected.given_up ? 1.0 : 0.0) > 0.0) return false;
  requests.hand_out(collected.outcomes);
  return true;
}

int ScriptRuns::num_parallel() const {
  const bool leads = communicator_.topology().is_leader();
  const double cpus = communicator_.all_reduce_scalar(leads ? os::num_cpus_available() : 0.0);
  return std::clamp(static_cast<int>(cpus), 1, num_envs());
}

/// Measures how long each request of a rank has run. The first requests begin at once, and each
/// further request begins when another one ends.
class ScriptRuns::LookClock {
 public:
  explicit LookClock(std::size_t envs) : envs_(envs) {}

  /// Real time since the request began.
  [[nodiscard]] double seconds(std::size_t request) const {
    return clock_.seconds() - (request < envs_ ? 0.0 : ends_s_[request - envs_]);
  }
  void note_end() { ends_s_.push_back(clock_.seconds()); }

 private:
  std::size_t envs_;
  Stopwatch clock_;
  std::vector<double> ends_s_;
};

ScriptRuns::End ScriptRuns::look(const std::vector<Look*>& looks,
                                 const std::function<bool()>& gives_up) {
  Requests requests(communicator_);
  std::vector<std::pair<Look*, std::size_t>> runs;  // look and seed of each request of all ranks
  std::int64_t most = 0;
  for (Look* one : looks) {
    most = std::max(most, one->seeds.count);
    one->watched.assign(static_cast<std::size_t>(one->seeds.count), {});
  }
  // Alternates between the scenarios, so that every scenario begins early.
  for (std::int64_t i = 0; i < most; ++i) {
    for (Look* one : looks) {
      if (i >= one->seeds.count) continue;
      requests.add(traffic_of(one->seeds, i), *one->none);
      runs.emplace_back(one, static_cast<std::size_t>(i));
    }
  }
  LookClock clock(pool_->my_envs().size());
  const auto watch = [&](std::size_t request, const rollout::Period& period) {
    const auto& [one, seed] = runs[static_cast<std::size_t>(requests.mine()[request].order)];
    one->watched[seed].note(period.time_s, clock.seconds(request), period.done(), period.score,
                            one->marks, one->step_length_s);
    if (period.done()) clock.note_end();
  };
  const bool done = execute(
      "search: no control", [&] { return stop_requested() || gives_up(); }, requests, watch);
  if (communicator_.all_reduce_scalar(stop_requested() ? 1.0 : 0.0) > 0.0) {
    return End::kStopRequested;
  }
  for (const auto& [one, seed] : runs) share(one->watched[seed]);
  if (done) return End::kDone;
  requests.hand_out_scores();
  return End::kTimeIsOver;
}

/// Sends a watched run from the rank that has watched it to all ranks.
void ScriptRuns::share(WatchedRun& run) const {
  const auto sum = [&](double value) { return communicator_.all_reduce_scalar(value); };
  Course& course = run.course;
  const auto reached = static_cast<std::int64_t>(sum(static_cast<double>(course.reached_s.size())));
  torch::Tensor seconds = torch::zeros({reached}, torch::kDouble);
  std::ranges::copy(course.reached_s, seconds.data_ptr<double>());
  communicator_.all_reduce(seconds);
  course.reached_s.assign(seconds.data_ptr<double>(), seconds.data_ptr<double>() + reached);
  course.elapsed_s = sum(course.elapsed_s);
  course.started = sum(course.started ? 1.0 : 0.0) > 0.0;
  course.ended = course.is_whole = sum(course.is_whole ? 1.0 : 0.0) > 0.0;
  run.steady_mark = static_cast<std::int64_t>(
      communicator_.all_reduce_scalar(static_cast<double>(run.steady_mark), comm::ReduceOp::kMax));
}

ScriptRuns::End ScriptRuns::run(const std::string& label, const SeedRange& seeds,
                                std::int64_t at_least, double until_share, ScriptRun& none,
                                const std::vector<ScriptRun*>& scripts) {
  if (!budget_.is_timed()) return run_seeds(label, seeds, none, scripts);
  // Runs enough seeds at a time to keep all simulations busy, and checks the clock in between.
  const auto of_a_seed = static_cast<std::int64_t>(scripts.size()) + 1;
  const std::int64_t at_once = std::max<std::int64_t>(1, 2 * num_envs() / of_a_seed);
  for (std::int64_t done = 0; done < seeds.count;) {
    const std::int64_t fitting = budget_.fitting(until_share) / of_a_seed;
    if (done >= at_least && fitting == 0) break;
    const std::int64_t minimum = done < at_least ? at_least - done : 1;
    const std::int64_t count =
        std::min(std::max(minimum, std::min(fitting, at_once)), seeds.count - done);
    const End end = run_seeds(label,
                              {.scenario = seeds.scenario,
                               .first = seeds.first + static_cast<std::uint64_t>(done),
                               .count = count},
                              none, scripts);
    if (end == End::kTimeIsOver && done >= at_least) break;
    if (end != End::kDone) return end;
    done += count;
  }
  return End::kDone;
}

ScriptRuns::End ScriptRuns::run_seeds(const std::string& label, const SeedRange& seeds,
                                      ScriptRun& none, const std::vector<ScriptRun*>& scripts) {
  const auto known = static_cast<std::int64_t>(none.outcomes.size());
  const auto first = static_cast<std::int64_t>(scripts.front()->outcomes.size());
  Requests requests(communicator_);
  for (std::int64_t i = 0; i < seeds.count; ++i) {
    const rollout::EpisodeSeed traffic = traffic_of(seeds, i);
    if (first + i >= known) requests.add(traffic, none);
    for (ScriptRun* script : scripts) requests.add(traffic, *script);
  }
  // If episodes take much longer than expected, they are given up at this share of search.minutes.
  constexpr double kLatest = 1.1;
  const auto gives_up = [&] { return stop_requested() || budget_.has_passed(kLatest); };
  if (execute(label, gives_up, requests)) return End::kDone;
  const bool stops = communicator_.all_reduce_scalar(stop_requested() ? 1.0 : 0.0) > 0.0;
  return stops ? End::kStopRequested : End::kTimeIsOver;
}

TriedScript ScriptRuns::compare(const ScriptRun& script, const ScriptRun& none,
                                const scene::Objective& objective, double step_length_s) const {
  const std::vector<EpisodeOutcome> others(
      none.outcomes.begin(),
      none.outcomes.begin() + static_cast<std::ptrdiff_t>(script.outcomes.size()));
  const auto gain = report::mean_interval(gains_over(script.outcomes, others, objective));
  const auto mean_gain = [&](const scene::Objective& of) {
    return report::mean_interval(gains_over(script.outcomes, others, of)).mean;
  };
  constexpr auto kBrakes = [](const scene::EpisodeScore& score) {
    return static_cast<double>(score.hard_brakes);
  };
  constexpr auto kControlled = [](const scene::EpisodeScore& score) {
    return static_cast<double>(score.cv_steps);
  };
  return {.controller = script.controller,
          .seeds = static_cast<std::int64_t>(script.outcomes.size()),
          .gain = gain.mean,
          .half_width = gain.half_width,
          .ocr_gain = mean_gain(scene::Objective::kThroughput),
          .delay_gain = mean_gain(scene::Objective::kDelay),
          .safety_excess = safety_excess(script.outcomes, others, config_.evaluation.safety_limit),
          .hard_brakes = mean_of(script.outcomes, kBrakes) - mean_of(others, kBrakes),
          .controlled_s = step_length_s * mean_of(script.outcomes, kControlled)};
}

}  // namespace traffic::train
