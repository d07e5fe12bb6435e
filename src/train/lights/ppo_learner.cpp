#include "lights/ppo_learner.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "optim/lr_schedule.h"
#include "optim/minibatch_step.h"
#include "ppo/epochs.h"
#include "traffic/rl/advantages.h"

namespace traffic::train::lights {

namespace {

/// Divides the advantages of each light by their root mean square in the light's episode. Without
/// this division, the busiest lights would dominate every update.
/// @param light [N] index of the light history of each decision
/// @param advantages standardised over all lights
torch::Tensor even_out(const torch::Tensor& advantages, const torch::Tensor& light) {
  // Lower bound of the root mean square, in units of the deviation over all lights. It keeps
  // the division from amplifying noise.
  constexpr double kLeast = 0.1;
  const std::int64_t lights = light.numel() == 0 ? 0 : light.max().item<std::int64_t>() + 1;
  const torch::Tensor squares =
      torch::zeros({lights}, advantages.options()).index_add(0, light, advantages.square());
  const torch::Tensor counts = torch::zeros({lights}, advantages.options())
                                   .index_add(0, light, torch::ones_like(advantages));
  const torch::Tensor level = (squares / counts.clamp_min(1.0)).sqrt().clamp_min(kLeast);
  return advantages / level.index_select(0, light);
}

/// The decisions of some states of this rank.
torch::Tensor decisions_of(const Experience& experience, const torch::Tensor& states) {
  return experience.by_state.index_select(0, rl::select_segments(experience.states, states).rows);
}

}  // namespace

PpoLearner::PpoLearner(const config::Config& config, LightPolicy& policy,
                       comm::Communicator& communicator)
    : ppo_(config.lights.ppo),
      iterations_(config.training.iterations),
      seed_(static_cast<std::uint64_t>(config.run.seed)),
      policy_(policy),
      communicator_(communicator),
      parameters_(policy.parameters()),
      gradients_(parameters_, communicator),
      optimiser_({.name = "lights",
                  .learning_rate_key = "lights.ppo.learning_rate",
                  .parameters = parameters_.flat(),
                  .gradients = gradients_.flat(),
                  .weight_decay = ppo_.weight_decay},
                 communicator),
      mean_(parameters_) {}

std::optional<LightsUpdate> PpoLearner::update(const std::vector<EpisodeHistory>& episodes,
                                               std::int64_t num_episodes, std::int64_t iteration) {
  const Experience experience =
      pack(episodes, num_episodes, scale_, {.gamma = ppo_.gamma, .gae_lambda = ppo_.gae_lambda},
           communicator_);
  const Targets targets = make_targets(experience);
  const double rate = step_factor_ * schedule_of(ppo_, iterations_).at(iteration);
  std::array optimisers{OptimiserStep{.optimiser = optimiser_, .learning_rate = rate}};
  const auto epochs = run_epochs(
      {.num_epochs = ppo_.num_epochs,
       .target_kl = ppo_.target_kl,
       .clip_norm = ppo_.clip_norm,
       .seed = seed_,
       .iteration = iteration,
       .minibatch_states = states_of_minibatch(experience),
       .global_state = experience.global_state,
       .total_states = experience.total_states,
       .gradients = gradients_,
       .optimisers = optimisers,
       .count = [&](const auto& minibatches) { return denominators_of(experience, minibatches); },
       .loss = [&](const torch::Tensor& states,
                   const rl::PpoDenominators& denominators) -> std::optional<rl::PpoLoss> {
         const torch::Tensor decisions = decisions_of(experience, states);
         if (decisions.numel() == 0) return std::nullopt;
         return loss_of(experience, targets, decisions, denominators);
       }},
      communicator_);
  if (!epochs) return std::nullopt;
  mean_.add(iteration);
  return LightsUpdate{.epochs = *epochs, .learning_rate = rate};
}

std::optional<Learned> PpoLearner::learn(const std::vector<EpisodeHistory>& episodes,
                                         std::int64_t num_episodes, std::int64_t iteration) {
  const auto result = update(episodes, num_episodes, iteration);
  if (!result) return std::nullopt;
  const rl::PpoStatistics& found = result->epochs.statistics;
  return Learned{.decisions = static_cast<std::int64_t>(found.decisions),
                 .metrics = {{"train/decisions", found.decisions},
                             {"train/policy_gradient_loss", found.policy_loss},
                             {"train/value_loss", found.value_loss},
                             {"train/entropy_loss", -found.entropy},
                             {"train/approx_kl", found.approx_kl},
                             {"train/clip_fraction", found.clip_fraction},
                             {"train/explained_variance", found.explained_variance},
                             {"train/grad_norm", result->epochs.grad_norm},
                             {"train/learning_rate", result->learning_rate},
                             {"train/epochs", static_cast<double>(result->epochs.epochs)}},
                 .loss = WatchedLoss{.value = found.value_loss}};
}

/// Standardises the advantages over all ranks, scales them for each light (even_out), and updates
/// the running scale of returns. Collective.
PpoLearner::Targets PpoLearner::make_targets(const Experience& experience) {
  const auto moments_of = [&](const torch::Tensor& x) {
    torch::Tensor moments = rl::moments_of(x, 1);
    communicator_.all_reduce(moments);
    return moments;
  };
  const rl::Scale scale = rl::scale_of(moments_of(experience.advantages));
  scale_.update(moments_of(experience.returns));
  const torch::Tensor advantages =
      (experience.advantages - scale.mean.item<double>()) / scale.deviation.item<double>();
  return {.advantages = even_out(advantages, experience.light),
          .values = scale_.standardise(experience.values),
          .returns = scale_.standardise(experience.returns)};
}

/// Number of states that contain about lights.ppo.minibatch_size decisions.
std::int64_t PpoLearner::states_of_minibatch(const Experience& experience) const {
  const double states_per_decision =
      static_cast<double>(experience.total_states) /
      static_cast<double>(std::max<std::int64_t>(1, experience.total));
  return std::max<std::int64_t>(
      1, std::llround(static_cast<double>(ppo_.minibatch_size) * states_per_decision));
}

/// The numbers by which the sums of the PPO loss are divided: for each minibatch, the number of
/// decisions of all ranks in it. Collective.
std::vector<rl::PpoDenominators> PpoLearner::denominators_of(
    const Experience& experience, const std::vector<torch::Tensor>& minibatches) {
  torch::Tensor counts =
      torch::zeros({static_cast<std::int64_t>(minibatches.size())}, torch::kDouble);
  auto* count = counts.mutable_data_ptr<double>();
  for (std::size_t i = 0; i < minibatches.size(); ++i) {
    count[i] = static_cast<double>(decisions_of(experience, minibatches[i]).numel());
  }
  communicator_.all_reduce(counts);
  std::vector<rl::PpoDenominators> out;
  for (std::size_t i = 0; i < minibatches.size(); ++i) {
    const double decisions = std::max(1.0, count[i]);
    out.push_back({.decisions = decisions, .values = decisions});
  }
  return out;
}

rl::PpoLoss PpoLearner::loss_of(const Experience& experience, const Targets& targets,
                                const torch::Tensor& decisions,
                                const rl::PpoDenominators& denominators) {
  const auto of_decisions = [&](const torch::Tensor& x) { return x.index_select(0, decisions); };
  const Taken taken = take(experience, decisions);
  const LightTerms now = policy_.evaluate(taken.batch, taken.chosen);
  return rl::ppo_loss({.decisions = {.log_prob = now.log_prob,
                                     .old_log_prob = of_decisions(experience.log_prob),
                                     .advantages = of_decisions(targets.advantages),
                                     .entropy = now.entropy},
                       .values = {.values = now.values,
                                  .old_values = of_decisions(targets.values),
                                  .returns = of_decisions(targets.returns)}},
                      denominators,
                      {.clip_range = ppo_.clip_range,
                       .vf_clip_range = ppo_.vf_clip_range,
                       .ent_coef = ppo_.ent_coef,
                       .vf_coef = ppo_.vf_coef});
}

void PpoLearner::start_from(const checkpoint::Snapshot& snapshot) {
  mean_.start_from(snapshot);
  scale_.load_state(snapshot.tensor("lights/value_scale"));
}

void PpoLearner::restore_from(const checkpoint::Snapshot& snapshot) {
  mean_.restore_from(snapshot);
  scale_.load_state(snapshot.tensor("lights/value_scale"));
  optimiser_.restore_from(snapshot, "optimizer/lights");
}

void PpoLearner::save_to(checkpoint::Snapshot& snapshot) const {
  mean_.save_to(snapshot);
  snapshot.put_tensor("lights/value_scale", scale_.state());
  optimiser_.save_to(snapshot, "optimizer/lights");
}

}  // namespace traffic::train::lights
