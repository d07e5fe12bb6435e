#include "search/script_runs.h"

#include <algorithm>
#include <utility>

#include "rollouts/episode_bar.h"
#include "rollouts/outcomes.h"
#include "run/together.h"
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

/// Hands requests to the ranks in turn and knows whose each of them is.
class Requests {
 public:
  explicit Requests(const comm::Communicator& communicator) : communicator_(communicator) {}

  void add(const SeedRange& seeds, std::int64_t seed, ScriptRun& run) {
    const auto order = static_cast<std::int64_t>(owners_.size());
    owners_.push_back(&run);
    if (order % communicator_.size() != communicator_.rank()) return;
    mine_.push_back({.order = order,
                     .traffic = {.seed = seeds.first + static_cast<std::uint64_t>(seed),
                                 .scenario = seeds.scenario},
                     .controller = run.controller});
  }
  [[nodiscard]] const std::vector<EpisodeRequest>& mine() const { return mine_; }
  [[nodiscard]] std::int64_t total() const { return static_cast<std::int64_t>(owners_.size()); }
  void hand_out(const std::vector<EpisodeOutcome>& outcomes) const {
    for (std::size_t i = 0; i < owners_.size(); ++i) owners_[i]->outcomes.push_back(outcomes[i]);
  }

 private:
  const comm::Communicator& communicator_;
  std::vector<EpisodeRequest> mine_;  ///< of this rank
  std::vector<ScriptRun*> owners_;    ///< of the requests of all ranks
};

}  // namespace

ScriptRuns::ScriptRuns(const config::Config& config, const comm::MpiSession& session,
                       comm::Communicator& communicator, SearchBudget& budget)
    : config_(config),
      communicator_(communicator),
      budget_(budget),
      pool_(session, config_),
      collector_(config_, pool_, time_split_) {}

ScriptRuns::End ScriptRuns::look(const SeedRange& seeds, double until_share, ScriptRun& none) {
  Requests requests(communicator_);
  for (std::int64_t i = 0; i < seeds.count; ++i) requests.add(seeds, i, none);
  std::vector<EpisodeOutcome> mine;
  for (const EpisodeRequest& request : requests.mine()) {
    mine.push_back({.order = request.order, .traffic = request.traffic, .score = {}});
  }
  Collected collected;
  const Stopwatch clock;
  together(communicator_, [&] {
    EpisodeBar progress("search: no control", mine.size(), config_, communicator_.rank() == 0);
    const auto gives_up = [&] { return stop_requested() || budget_.has_passed(until_share); };
    collected = collector_.run(requests.mine(), {.gives_up = gives_up},
                               [&](std::size_t i, const rollout::Period& period) {
                                 mine[i].score = period.score;
                                 progress.add(period);
                               });
  });
  const double seconds = communicator_.all_reduce_scalar(clock.seconds(), comm::ReduceOp::kMax);
  const bool all_ended = communicator_.all_reduce_scalar(collected.given_up ? 1.0 : 0.0) == 0.0;
  if (communicator_.all_reduce_scalar(stop_requested() ? 1.0 : 0.0) > 0.0) {
    return End::kStopRequested;
  }
  requests.hand_out(share_outcomes(mine, requests.total(), communicator_));
  episodes_ += requests.total();
  budget_.measure(requests.total(), seconds);
  return all_ended ? End::kDone : End::kTimeIsOver;
}

ScriptRuns::End ScriptRuns::run(const std::string& label, const SeedRange& seeds,
                                double until_share, ScriptRun& none,
                                const std::vector<ScriptRun*>& scripts) {
  if (!budget_.is_timed()) return run_seeds(label, seeds, none, scripts);
  // So many seeds at a time that the simulations are busy: the clock is looked at between them.
  const auto of_a_seed = static_cast<std::int64_t>(scripts.size()) + 1;
  const std::int64_t at_once = std::max<std::int64_t>(1, 2 * num_envs() / of_a_seed);
  for (std::int64_t done = 0; done < seeds.count;) {
    const std::int64_t count = std::min(at_once, seeds.count - done);
    // Half of what follows may be late: the search is as often early as late.
    if (done > 0 && budget_.fitting(until_share) < count * of_a_seed / 2) break;
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
  Collected collected;
  const Stopwatch clock;
  together(communicator_, [&] {
    EpisodeBar progress(label, requests.mine().size(), config_, communicator_.rank() == 0);
    collected =
        collector_.run(requests.mine(), {.gives_up = stop_requested},
                       [&](std::size_t, const rollout::Period& period) { progress.add(period); });
  });
  if (communicator_.all_reduce_scalar(collected.given_up ? 1.0 : 0.0) > 0.0) {
    return End::kStopRequested;
  }
  requests.hand_out(share_outcomes(collected.outcomes, requests.total(), communicator_));
  episodes_ += requests.total();
  const double seconds = communicator_.all_reduce_scalar(clock.seconds(), comm::ReduceOp::kMax);
  budget_.measure(requests.total(), seconds);
  return End::kDone;
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
