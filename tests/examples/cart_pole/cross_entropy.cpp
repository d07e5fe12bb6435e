#include "cross_entropy.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cart_pole.h"
#include "traffic/checkpoint/file.h"
#include "traffic/core/random.h"
#include "traffic/rollout/pool/collector.h"
#include "traffic/rollout/pool/local_pool.h"

namespace traffic::example {
namespace {

/// Streams of random numbers, which derive_seed() makes from run.seed and further numbers.
enum Stream : std::uint64_t {
  kCandidates = 0x63616e64,  ///< "cand"; further numbers: iteration and candidate
  kStarts = 0x73746172,      ///< "star"; further numbers: iteration and episode
  kEvaluation = 0x6576616c,  ///< "eval"; further number: episode of an evaluation
};

using Weights = CartPoleState;  ///< one weight for each number of the state

double push_of(const Weights& weights, const CartPoleState& state) {
  const double sum = std::inner_product(weights.begin(), weights.end(), state.begin(), 0.0);
  return sum > 0.0 ? kForce_n : -kForce_n;
}

/// Plays this rank's share of the episodes. Each candidate plays one episode from each start.
class Plays final : public rollout::EpisodeHandler {
 public:
  struct Share {
    std::size_t first = 0;
    std::size_t stride = 1;
  };
  Plays(rollout::EnvPool& pool, Share share, std::span<const Weights> candidates,
        std::span<const Start> starts, std::span<double> steps_of)
      : pool_(pool),
        share_(share),
        candidates_(candidates),
        starts_(starts),
        steps_of_(steps_of),
        progress_(static_cast<std::size_t>(pool.num_envs())) {}

  rollout::EpisodeProgress& progress(int env) override {
    return progress_[static_cast<std::size_t>(env)];
  }
  void begin(int env) override {
    const std::size_t episode = episode_of(env);
    steps_of_[episode] = 0.0;
    pool_.reset(env, to_bytes(starts_[episode % starts_.size()]));
  }
  void decide(std::span<const int> envs) override {
    for (const int env : envs) {
      const std::size_t episode = episode_of(env);
      const auto state = from_bytes<CartPoleState>(pool_.answer(env));
      const Push push{.force_n = push_of(candidates_[episode / starts_.size()], state)};
      pool_.step(env, to_bytes(push));
      steps_of_[episode] += 1.0;
    }
  }

 private:
  /// Index of the environment's episode among those of all ranks.
  std::size_t episode_of(int env) {
    return share_.first + static_cast<std::size_t>(progress(env).episode) * share_.stride;
  }

  rollout::EnvPool& pool_;
  Share share_;
  std::span<const Weights> candidates_;
  std::span<const Start> starts_;
  std::span<double> steps_of_;  ///< steps in each episode; 0 in episodes of other ranks
  std::vector<rollout::EpisodeProgress> progress_;
};

class CrossEntropy final : public train::Training {
 public:
  explicit CrossEntropy(train::Run& run)
      : config_(run.config()),
        settings_(config_.extension<Search>()),
        communicator_(run.communicator()),
        pool_({.rank = communicator_.rank(),
               .num_ranks = communicator_.size(),
               .num_envs = static_cast<int>(settings_.population),
               .max_answer_bytes = sizeof(CartPoleState),
               .make = [](const rollout::EnvPlace&) { return std::make_unique<CartPole>(); }}) {}

  [[nodiscard]] train::TrainingUnits units() const override {
    return {.step = "iteration",
            .items = "env steps",
            .rate = "env_steps_per_s",
            .duration = "iteration_s"};
  }
  [[nodiscard]] std::int64_t step() const override { return iteration_; }
  [[nodiscard]] std::int64_t total_steps() const override { return settings_.iterations; }
  [[nodiscard]] const comm::ParameterArena& parameters() const override { return parameters_; }

  void start() override {
    if (!config_.run.init_from.empty()) take_best(checkpoint::load(config_.run.init_from));
  }
  void save_to(checkpoint::Snapshot& snapshot) const override;
  void restore_from(const checkpoint::Snapshot& snapshot) override;
  void take_best(const checkpoint::Snapshot& snapshot) override;
  std::optional<train::Iteration> iterate() override;
  std::optional<train::Assessment> evaluate() override;
  void conclude(report::Summary& summary) override;
  void count_faults(report::Summary& summary) const override {
    summary.faults["lost_episodes"] = static_cast<std::int64_t>(pool_.counters().lost_episodes);
  }
  void close() override { pool_.close(); }

 private:
  [[nodiscard]] std::vector<Weights> draw_candidates() const;
  [[nodiscard]] std::vector<Start> draw_starts(Stream stream, std::int64_t iteration,
                                               std::int64_t count) const;
  std::vector<double> play(const std::vector<Weights>& candidates,
                           const std::vector<Start>& starts);
  double refit(const std::vector<Weights>& candidates, const std::vector<double>& returns);
  double return_of_mean();

  const config::Config& config_;
  const Search settings_;
  comm::Communicator& communicator_;
  rollout::LocalPool pool_;
  rollout::Collector collector_{pool_, time_split_};
  at::Tensor mean_ = at::zeros({4});
  at::Tensor deviation_ = at::ones({4});
  comm::ParameterArena parameters_{{{"mean", mean_}, {"deviation", deviation_}}};
  std::int64_t iteration_ = 0;
  double best_return_ = -1.0;
};

/// Draws the candidates of this iteration, which are the same on all ranks and for any number of
/// ranks.
std::vector<Weights> CrossEntropy::draw_candidates() const {
  std::vector<Weights> candidates(static_cast<std::size_t>(settings_.population));
  const auto* mean = mean_.const_data_ptr<float>();
  const auto* deviation = deviation_.const_data_ptr<float>();
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    Rng rng(derive_seed(static_cast<std::uint64_t>(config_.run.seed),
                        {kCandidates, static_cast<std::uint64_t>(iteration_), c}));
    for (std::size_t w = 0; w < candidates[c].size(); ++w) {
      candidates[c][w] = mean[w] + deviation[w] * rng.normal();
    }
  }
  return candidates;
}

std::vector<Start> CrossEntropy::draw_starts(Stream stream, std::int64_t iteration,
                                             std::int64_t count) const {
  std::vector<Start> starts(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < starts.size(); ++i) {
    starts[i].seed = derive_seed(static_cast<std::uint64_t>(config_.run.seed),
                                 {stream, static_cast<std::uint64_t>(iteration), i});
  }
  return starts;
}

/// Lets all candidates play from all starts. All ranks must call it. The episodes of a rank count
/// as 0 on all other ranks, so the sum over ranks has the same bits in any order.
/// @return steps until the end of an episode, for each candidate the mean over the starts; the same
///   on all ranks
std::vector<double> CrossEntropy::play(const std::vector<Weights>& candidates,
                                       const std::vector<Start>& starts) {
  const std::size_t episodes = candidates.size() * starts.size();
  const at::Tensor steps = at::zeros({static_cast<std::int64_t>(episodes)}, at::kDouble);
  auto* steps_of = steps.mutable_data_ptr<double>();
  const auto first = static_cast<std::size_t>(communicator_.rank());
  const auto stride = static_cast<std::size_t>(communicator_.size());
  Plays plays(pool_, {first, stride}, candidates, starts, {steps_of, episodes});
  collector_.run_episodes((episodes - first + stride - 1) / stride, plays);
  communicator_.all_reduce(steps);
  std::vector<double> returns(candidates.size(), 0.0);
  for (std::size_t e = 0; e < episodes; ++e) {
    returns[e / starts.size()] += steps_of[e] / static_cast<double>(starts.size());
  }
  return returns;
}

/// Sets mean and deviation to those of the best candidates.
/// @return mean return of the best candidates
double CrossEntropy::refit(const std::vector<Weights>& candidates,
                           const std::vector<double>& returns) {
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t c) { return returns[c]; });
  const double wanted = settings_.elite_share * static_cast<double>(candidates.size());
  order.resize(static_cast<std::size_t>(std::max(2.0, std::round(wanted))));
  const auto count = static_cast<double>(order.size());
  for (std::size_t w = 0; w < Weights().size(); ++w) {
    double sum = 0.0;
    for (const std::size_t c : order) sum += candidates[c][w];
    double squares = 0.0;
    for (const std::size_t c : order) squares += std::pow(candidates[c][w] - sum / count, 2);
    mean_.mutable_data_ptr<float>()[w] = static_cast<float>(sum / count);
    deviation_.mutable_data_ptr<float>()[w] =
        static_cast<float>(std::max(settings_.min_deviation, std::sqrt(squares / count)));
  }
  double sum = 0.0;
  for (const std::size_t c : order) sum += returns[c];
  return sum / count;
}

std::optional<train::Iteration> CrossEntropy::iterate() {
  const std::vector<Weights> candidates = draw_candidates();
  const std::vector<double> returns =
      play(candidates, draw_starts(kStarts, iteration_, settings_.episodes));
  const double best = refit(candidates, returns);
  ++iteration_;
  const double sum = std::accumulate(returns.begin(), returns.end(), 0.0);
  const double mean = sum / static_cast<double>(returns.size());
  return train::Iteration{
      .items = std::llround(sum * static_cast<double>(settings_.episodes)),
      .evaluation_due = iteration_ % settings_.eval_interval == 0,
      .metrics = {{"rollout/ep_rew_mean", mean}, {"rollout/elite_ep_rew_mean", best}},
      .shown = {{"return", mean}}};
}

double CrossEntropy::return_of_mean() {
  Weights weights{};
  std::copy_n(mean_.const_data_ptr<float>(), weights.size(), weights.begin());
  return play({weights}, draw_starts(kEvaluation, 0, settings_.eval_episodes)).front();
}

std::optional<train::Assessment> CrossEntropy::evaluate() {
  const double found = return_of_mean();
  const bool best = found > best_return_;
  best_return_ = std::max(best_return_, found);
  return train::Assessment{.best = best, .metrics = {{"eval/mean_reward", found}}};
}

void CrossEntropy::conclude(report::Summary& summary) {
  summary.result["mean_reward"] = return_of_mean();
}

void CrossEntropy::save_to(checkpoint::Snapshot& snapshot) const {
  snapshot.put_tensor("model/mean", mean_);
  snapshot.put_tensor("model/deviation", deviation_);
  snapshot.put_int("cem/iteration", iteration_);
  snapshot.put_real("cem/best_return", best_return_);
}

void CrossEntropy::restore_from(const checkpoint::Snapshot& snapshot) {
  take_best(snapshot);
  iteration_ = snapshot.integer("cem/iteration");
  best_return_ = snapshot.real("cem/best_return");
}

void CrossEntropy::take_best(const checkpoint::Snapshot& snapshot) {
  snapshot.copy_tensor("model/mean", mean_);
  snapshot.copy_tensor("model/deviation", deviation_);
}

std::vector<config::Row> search_rows() {
  using config::between;
  return {
      {TRAFFIC_EXTENSION_KEY("cem", Search, iterations), .help = "Iterations of the search.",
       .range = between(1, 1e6)},
      {TRAFFIC_EXTENSION_KEY("cem", Search, population), .help = "Candidates of an iteration.",
       .range = between(2, 1e6)},
      {TRAFFIC_EXTENSION_KEY("cem", Search, elite_share),
       .help =
           "Share of the candidates, the best ones, around which the next candidates are drawn.",
       .range = {.low = 0.0, .high = 1.0, .low_open = true}},
      {TRAFFIC_EXTENSION_KEY("cem", Search, min_deviation),
       .help = "Minimum deviation of the candidates.", .range = between(0, 10)},
      {TRAFFIC_EXTENSION_KEY("cem", Search, episodes), .help = "Episodes of a candidate.",
       .range = between(1, 1000)},
      {TRAFFIC_EXTENSION_KEY("cem", Search, eval_interval),
       .help = "Iterations between evaluations.", .range = between(1, 1e6)},
      {TRAFFIC_EXTENSION_KEY("cem", Search, eval_episodes),
       .help = "Episodes of an evaluation. Each evaluation plays the same ones.",
       .range = between(1, 1e6)},
  };
}

}  // namespace

train::TrainingRow cross_entropy_training() {
  return {.facts = {.name = "cross_entropy",
                    .number = "",
                    .folder = "cross_entropy",
                    .help = "a linear policy of the cart and pole, by search",
                    .product = "Policy",
                    .about = "Weights of a linear policy that balances a pole on a cart.",
                    .of_traffic = false,
                    .starts_from = {},
                    .sections = {"cem"}},
          .make = [](train::Run& run) -> std::unique_ptr<train::Training> {
            return std::make_unique<CrossEntropy>(run);
          },
          .own_sections = {{{"cem", "Cross-entropy search."}, search_rows()}}};
}

}  // namespace traffic::example
