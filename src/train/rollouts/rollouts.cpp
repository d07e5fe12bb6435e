#include "rollouts/rollouts.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "rollouts/baseline_runs.h"
#include "rollouts/pool_count.h"
#include "run/together.h"
#include "traffic/config/trainings.h"
#include "traffic/core/fault.h"
#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"
#include "traffic/core/signals.h"

namespace traffic::train {
namespace {

std::string entry_of(int env) { return fmt::format("rollout/env{:04}", env); }

std::int64_t final_episodes(const config::Training& training) {
  return training.final_episodes > 0 ? training.final_episodes : training.eval_episodes;
}

}  // namespace

double demand_scale_at(const config::Config& config, std::int64_t iteration) {
  const std::vector<double>& factors = config.episodes.demand_curriculum;
  const auto parts = static_cast<std::int64_t>(factors.size());
  if (parts == 0) return 1.0;
  const std::int64_t part = std::min(parts - 1, iteration * parts / config.training.iterations);
  return factors[static_cast<std::size_t>(part)];
}

Rollouts::Rollouts(const config::Config& config, const comm::MpiSession& session,
                   comm::Communicator& communicator, TimeSplit& time_split)
    : config_(config),
      mix_(config::scenario_mix(config.env)),
      communicator_(communicator),
      pool_(session, config_),
      collector_(config_, pool_, time_split),
      objective_(scene::objective_of(config_.env.objective)),
      baselines_(get_baselines(config_, collector_, communicator_)),
      reward_(baselines_, config_.episodes.reward_scale, objective_),
      cost_(config_.lagrange, reward_.conflicts()),
      selection_({config_, communicator_, collector_, reward_, cost_, kFirstSelectionSeed,
                  config_.training.eval_episodes}),
      final_({config_, communicator_, collector_, reward_, cost_, kFirstComparisonSeed,
              final_episodes(config_.training)}),
      fault_point_(std::string(config::get_training(config_.run.phase).folder) + ".collect") {}

/// Draws the traffic of a training episode: the seed, the scenario (with a probability equal to its
/// share), the piece and the demand.
/// @param major, minor two numbers that identify the episode: iteration and index for whole
///   episodes, environment and episode for fragments
rollout::EpisodeSeed Rollouts::training_traffic(std::uint64_t major, std::int64_t minor) const {
  const auto run_seed = static_cast<std::uint64_t>(config_.run.seed);
  const auto counter = static_cast<std::uint64_t>(minor);
  const std::uint64_t drawn = derive_seed(run_seed, {kTrafficStream, major, counter});
  rollout::EpisodeSeed traffic{.seed = kFirstTrainingSeed + drawn % kNumTrainingSeeds};
  double left = Rng(derive_seed(run_seed, {kScenarioStream, major, counter})).uniform();
  for (std::size_t i = 0; i + 1 < mix_.size(); ++i) {
    left -= mix_[i].share;
    if (left < 0.0) break;
    ++traffic.scenario;
  }
  draw_piece(traffic, Rng(derive_seed(run_seed, {kPieceStream, major, counter})));
  const auto& [low, high] = demand_range(config_.episodes);
  if (low < high) {
    Rng rng(derive_seed(run_seed, {kDemandScaleStream, major, counter}));
    traffic.demand_scale = rng.uniform(low, high);
  } else {
    traffic.demand_scale = low;
  }
  return traffic;
}

/// If episodes are pieces of scenarios (parts of length episodes.length_s), draws one of them. Also
/// draws the uncontrolled episode whose saved traffic is the start of the piece.
void Rollouts::draw_piece(rollout::EpisodeSeed& traffic, Rng rng) const {
  if (!are_pieces()) return;
  const auto scenario = static_cast<std::size_t>(traffic.scenario);
  const double pieces = std::ceil(reward_.duration_s(scenario) / config_.episodes.length_s - 1e-9);
  traffic.piece = static_cast<std::int64_t>(rng.uniform_int(static_cast<std::uint64_t>(pieces)));
  traffic.saved_seed =
      kFirstBaselineSeed +
      rng.uniform_int(static_cast<std::uint64_t>(config_.episodes.baseline_episodes));
}

double Rollouts::sampled_gain(const std::vector<EpisodeOutcome>& outcomes) const {
  if (are_pieces()) return gain_of_pieces(outcomes);
  scene::ComparedScores own;
  scene::ComparedScores uncontrolled;
  for (const EpisodeOutcome& outcome : outcomes) {
    const Baseline& baseline = baselines_.at(static_cast<std::size_t>(outcome.traffic.scenario));
    own += compared_scores(outcome.score);
    uncontrolled += baseline.scores();
  }
  return scene::gain_percent(own, uncontrolled, objective_);
}

/// Gain of pieces of scenarios over no control, in %. It is computed from rewards, since
/// uncontrolled scores are only known for whole scenarios.
/// The growth of uncontrolled traffic is negative if the objective is a cost, hence the absolute
/// value.
double Rollouts::gain_of_pieces(const std::vector<EpisodeOutcome>& outcomes) const {
  double reward = 0.0;
  double expected = 0.0;
  for (const EpisodeOutcome& outcome : outcomes) {
    const double from_s = static_cast<double>(outcome.traffic.piece) * config_.episodes.length_s;
    reward += outcome.reward;
    expected +=
        reward_.expected(outcome.traffic.scenario, from_s, from_s + config_.episodes.length_s);
  }
  return 100.0 * reward / std::abs(expected);
}

std::int64_t Rollouts::episodes_per_iteration() const {
  double duration_s = 0.0;
  for (std::size_t i = 0; i < mix_.size(); ++i) {
    const double whole_s = reward_.duration_s(i);
    duration_s +=
        mix_[i].share * (are_pieces() ? std::min(whole_s, config_.episodes.length_s) : whole_s);
  }
  const double steps = std::ceil(duration_s / config_.env.control_period_s - 1e-9);
  const auto episodes = static_cast<std::int64_t>(
      std::ceil(static_cast<double>(config_.episodes.train_batch_size) / std::max(1.0, steps)));
  return std::max<std::int64_t>(episodes, communicator_.size());
}

std::int64_t Rollouts::steps_per_env() const {
  const std::int64_t length = config_.episodes.rollout_fragment_length;
  const std::int64_t together = length * pool_.num_envs();
  return length * ((config_.episodes.train_batch_size + together - 1) / together);
}

Collected Rollouts::collect_episodes(std::int64_t iteration, const Behaviour& behaviour) {
  const auto requests =
      requests_of_rank(episodes_per_iteration(), communicator_, [&](std::int64_t i) {
        auto traffic = training_traffic(static_cast<std::uint64_t>(iteration), i);
        traffic.demand_scale *= demand_scale_at(config_, iteration);
        return traffic;
      });
  return collector_.run(requests, behaviour);
}

Collected Rollouts::collect_fragments(const Behaviour& behaviour) {
  return collector_.run_fragments(steps_per_env(), behaviour, [&](int env, std::int64_t episode) {
    return training_traffic(static_cast<std::uint64_t>(env), episode);
  });
}

/// Whether any rank has given up. If so, all ranks give up.
bool Rollouts::is_given_up(const Collected& collected) {
  return communicator_.all_reduce_scalar(collected.given_up ? 1.0 : 0.0) > 0.0;
}

std::optional<RolloutBatch> Rollouts::collect(const CollectInput& in) {
  const auto& [iteration, actors, imitates] = in;
  const auto seed = static_cast<std::uint64_t>(config_.run.seed);
  const std::int64_t steps_before = collector_.env_steps();
  Behaviour behaviour{
      .actors = actors, .reward = &reward_, .cost = &cost_, .gives_up = stop_requested};
  if (imitates) {
    behaviour.experts = experts_of(config_);
    behaviour.advised_share = iteration > 0 ? config_.imitation.dagger_share : 0.0;
  }
  const bool whole = whole_episodes() || imitates;
  if (are_pieces()) {
    for (const Baseline& baseline : baselines_) behaviour.stores.push_back(baseline.store);
  }
  behaviour.sampling_seed =
      whole ? derive_seed(seed, {kSamplingStream, static_cast<std::uint64_t>(iteration)})
            : derive_seed(seed, {kSamplingStream});
  Collected collected;
  together(communicator_, [&] {
    fault::hit(fault_point_, communicator_.rank(), iteration);
    collected = whole ? collect_episodes(iteration, behaviour) : collect_fragments(behaviour);
  });
  if (is_given_up(collected)) return std::nullopt;
  count();
  const std::int64_t orders = whole ? episodes_per_iteration() : pool_.num_envs() * steps_per_env();
  RolloutBatch batch{.episodes = orders};
  batch.outcomes = share_outcomes(collected.outcomes, orders, communicator_);
  std::erase_if(batch.outcomes, [](const EpisodeOutcome& outcome) { return outcome.steps == 0; });
  batch.env_steps = static_cast<std::int64_t>(
      communicator_.all_reduce_scalar(static_cast<double>(collector_.env_steps() - steps_before)));
  if (actors.vehicles != nullptr) {
    pack_steps(*actors.vehicles, collected.trajectories, batch);
  } else {
    for (const EpisodeOutcome& outcome : batch.outcomes) batch.states += outcome.steps;
  }
  return batch;
}

/// Numbers the steps of all ranks, trajectory by trajectory, and packs those of this rank.
void Rollouts::pack_steps(const Decider& decider, const std::vector<Trajectory>& trajectories,
                          RolloutBatch& batch) {
  torch::Tensor lengths = torch::zeros({batch.episodes}, torch::kLong);
  for (const Trajectory& trajectory : trajectories) {
    lengths[trajectory.order] = static_cast<std::int64_t>(trajectory.steps.size());
  }
  communicator_.all_reduce(lengths);
  const torch::Tensor first = lengths.cumsum(0) - lengths;
  std::vector<std::int64_t> first_state;
  for (const Trajectory& trajectory : trajectories) {
    first_state.push_back(first[trajectory.order].item<std::int64_t>());
  }
  batch.states = lengths.sum().item<std::int64_t>();
  batch.experience = std::make_shared<Experience>(
      pack(trajectories, first_state, decider.perception().widths(),
           decider.perception().conflicts(), decider.policy().top_k()));
}

void Rollouts::count() { counters_ = sum_over_nodes(pool_.counters(), communicator_); }

void Rollouts::save_to(checkpoint::Snapshot& snapshot) const {
  if (whole_episodes()) return;
  // Each rank knows the state of its own simulations only, and rank 0 writes the checkpoint.
  for (int env = 0; env < pool_.num_envs(); ++env) {
    std::string text;
    if (env % communicator_.size() == communicator_.rank()) {
      const checkpoint::Bytes bytes = to_bytes(collector_.fragment_state(env));
      text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    text = communicator_.broadcast_string(text, env % communicator_.size());
    const auto bytes = std::as_bytes(std::span(text));
    snapshot.put_bytes(entry_of(env), {bytes.begin(), bytes.end()});
  }
}

void Rollouts::restore_from(const checkpoint::Snapshot& snapshot) {
  if (whole_episodes()) return;
  for (const int env : pool_.my_envs()) {
    if (!snapshot.contains(entry_of(env))) continue;  // the saved run had fewer environments
    collector_.restore_fragment(
        env, episode_state_from(snapshot.bytes(entry_of(env)),
                                static_cast<std::int64_t>(mix_.size()), communicator_.device()));
  }
}

}  // namespace traffic::train
