#include "search/script_runs.h"

#include <algorithm>
#include <utility>

#include "rollouts/episode_bar.h"
#include "rollouts/outcomes.h"
#include "run/together.h"
#include "search/rounds.h"
#include "traffic/core/clock.h"
#include "traffic/core/signals.h"

namespace traffic::train {
namespace {

double mean_of(const std::vector<EpisodeOutcome>& outcomes,
               double (*value)(const scene::EpisodeScore&)) {
  double sum = 0.0;
  for (const EpisodeOutcome& outcome : outcomes) sum += value(outcome.score);
  return sum / static_cast<double>(std::max<std::size_t>(1, outcomes.size()));
}

}  // namespace

/// The requests for a number of episodes, which the ranks take in turn.
class ScriptRuns::Requests {
 public:
  explicit Requests(comm::Communicator& communicator) : communicator_(communicator) {}

  void add(const SeedRange& seeds, std::int64_t seed, ScriptRun& run) {
    const std::int64_t order = total();
    owners_.push_back(&run);
    if (order % communicator_.size() != communicator_.rank()) return;
    const rollout::EpisodeSeed traffic{.seed = seeds.first + static_cast<std::uint64_t>(seed),
                                       .scenario = seeds.scenario};
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
  /// Gives each script the outcomes of its requests. Collective.
  void hand_out(const std::vector<EpisodeOutcome>& outcomes_of_rank) {
    const auto outcomes = share_outcomes(outcomes_of_rank, total(), communicator_);
    for (std::size_t i = 0; i < owners_.size(); ++i) owners_[i]->outcomes.push_back(outcomes[i]);
  }
  /// As hand_out(), with the latest scores of episodes that have not ended.
  void hand_out_scores() { hand_out(latest_); }

 private:
  comm::Communicator& communicator_;
  std::vector<EpisodeRequest> mine_;    ///< requests of this rank
  std::vector<EpisodeOutcome> latest_;  ///< latest outcomes of these
  std::vector<ScriptRun*> owners_;      ///< the script of each request of all ranks
};

ScriptRuns::ScriptRuns(const config::Config& config, const comm::MpiSession& session,
                       comm::Communicator& communicator, SearchBudget& budget)
    : config_(config),
      communicator_(communicator),
      budget_(budget),
      pool_(session, config_),
      collector_(config_, pool_, time_split_) {}

/// @return whether all episodes ended before `gives_up` returned true on a rank
bool ScriptRuns::execute(const std::string& label, const rollout::Collector::Stop& gives_up,
                         Requests& requests) {
  Collected collected;
  Behaviour behaviour;
  behaviour.gives_up = gives_up;
  const Stopwatch clock;
  together(communicator_, [&] {
    EpisodeBar progress(label, requests.mine().size(), config_, communicator_.rank() == 0);
    collected = collector_.run(requests.mine(), behaviour,
                               [&](std::size_t i, const rollout::Period& period) {
                                 requests.note(i, period.score);
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

ScriptRuns::End ScriptRuns::look(const SeedRange& seeds, double until_share, ScriptRun& none) {
  Requests requests(communicator_);
  for (std::int64_t i = 0; i < seeds.count; ++i) requests.add(seeds, i, none);
  const auto gives_up = [&] { return stop_requested() || budget_.has_passed(until_share); };
  if (execute("search: no control", gives_up, requests)) return End::kDone;
  if (communicator_.all_reduce_scalar(stop_requested() ? 1.0 : 0.0) > 0.0) {
    return End::kStopRequested;
  }
  requests.hand_out_scores();
  return End::kTimeIsOver;
}

ScriptRuns::End ScriptRuns::run(const std::string& label, const SeedRange& seeds,
                                double until_share, ScriptRun& none,
                                const std::vector<ScriptRun*>& scripts) {
  if (!budget_.is_timed()) return run_seeds(label, seeds, none, scripts);
  // Runs enough seeds at a time to keep all simulations busy, and checks the clock in between.
  const auto of_a_seed = static_cast<std::int64_t>(scripts.size()) + 1;
  const std::int64_t at_once = std::max<std::int64_t>(1, 2 * num_envs() / of_a_seed);
  for (std::int64_t done = 0; done < seeds.count;) {
    const std::int64_t fitting = budget_.fitting(until_share) / of_a_seed;
    if (done >= kMinSeeds && fitting == 0) break;
    const std::int64_t minimum = done < kMinSeeds ? kMinSeeds - done : 1;
    const std::int64_t count =
        std::min(std::max(minimum, std::min(fitting, at_once)), seeds.count - done);
    const End end = run_seeds(label,
                              {.scenario = seeds.scenario,
                               .first = seeds.first + static_cast<std::uint64_t>(done),
                               .count = count},
                              none, scripts);
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
    if (first + i >= known) requests.add(seeds, i, none);
    for (ScriptRun* script : scripts) requests.add(seeds, i, *script);
  }
  return execute(label, stop_requested, requests) ? End::kDone : End::kStopRequested;
}

TriedScript ScriptRuns::compare(const ScriptRun& script, const ScriptRun& none,
                                scene::Objective objective, double step_length_s) const {
  const std::vector<EpisodeOutcome> others(
      none.outcomes.begin(),
      none.outcomes.begin() + static_cast<std::ptrdiff_t>(script.outcomes.size()));
  const auto gain = report::mean_interval(gains_over(script.outcomes, others, objective));
  const auto mean_gain = [&](scene::Objective of) {
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
