#include "signals/ppo_learner.h"

#include <algorithm>
#include <cmath>

#include "optim/lr_schedule.h"
#include "ppo/minibatches.h"
#include "run/snapshot_parts.h"
#include "traffic/core/fault.h"
#include "traffic/core/random_streams.h"
#include "traffic/core/signals.h"
#include "traffic/rl/advantages.h"

namespace traffic::train::signals {

namespace {

/// What is decided where little traffic is counts as what is decided where much is: divided by the
/// root of their mean square in each light's episode, the busiest of which would decide everything.
torch::Tensor even_out(const torch::Tensor& advantages, const torch::Tensor& light) {
  constexpr double kLeast = 0.1;  // of that of all: noise stays noise
  const std::int64_t lights = light.numel() == 0 ? 0 : light.max().item<std::int64_t>() + 1;
  const torch::Tensor squares =
      torch::zeros({lights}, advantages.options()).index_add(0, light, advantages.square());
  const torch::Tensor counts = torch::zeros({lights}, advantages.options())
                                   .index_add(0, light, torch::ones_like(advantages));
  const torch::Tensor level = (squares / counts.clamp_min(1.0)).sqrt().clamp_min(kLeast);
  return advantages / level.index_select(0, light);
}

}  // namespace

PpoLearner::PpoLearner(const config::Config& config, SignalPolicy& policy,
                       comm::Communicator& communicator)
    : ppo_(config.lights.ppo),
      iterations_(config.training.iterations),
      seed_(static_cast<std::uint64_t>(config.run.seed)),
      policy_(policy),
      communicator_(communicator),
      parameters_(policy.parameters()),
      gradients_(parameters_, communicator),
      optimiser_({.name = "signals",
                  .learning_rate_key = "lights.ppo.learning_rate",
                  .parameters = parameters_.flat(),
                  .gradients = gradients_.flat(),
                  .weight_decay = ppo_.weight_decay},
                 communicator),
      mean_(parameters_) {}

std::optional<UpdateResult> PpoLearner::update(const std::vector<EpisodeHistory>& episodes,
                                               std::int64_t num_episodes, std::int64_t iteration) {
  const Experience experience =
      pack(episodes, num_episodes, scale_, {.gamma = ppo_.gamma, .gae_lambda = ppo_.gae_lambda},
           communicator_);
  const Targets targets = make_targets(experience);
  UpdateResult result;
  result.learning_rate = schedule_of(ppo_, iterations_).at(iteration);
  bool goes_on = true;
  while (goes_on && result.epochs < ppo_.num_epochs) {
    if (communicator_.all_reduce_scalar(stop_requested() ? 1.0 : 0.0) > 0.0) return std::nullopt;
    goes_on = run_epoch(experience, targets, iteration, result);
    ++result.epochs;
  }
  result.grad_norm /= static_cast<double>(std::max<std::int64_t>(1, result.steps));
  mean_.add(iteration);
  return result;
}

std::optional<Learned> PpoLearner::learn(const std::vector<EpisodeHistory>& episodes,
                                         std::int64_t num_episodes, std::int64_t iteration) {
  const auto result = update(episodes, num_episodes, iteration);
  if (!result) return std::nullopt;
  const rl::PpoStatistics& found = result->statistics;
  return Learned{.decisions = static_cast<std::int64_t>(found.decisions),
                 .figures = {{"train/decisions", found.decisions},
                             {"train/policy_loss", found.policy_loss},
                             {"train/value_loss", found.value_loss},
                             {"train/entropy", found.entropy},
                             {"train/approx_kl", found.approx_kl},
                             {"train/clip_fraction", found.clip_fraction},
                             {"train/explained_variance", found.explained_variance},
                             {"train/grad_norm", result->grad_norm},
                             {"train/learning_rate", result->learning_rate},
                             {"train/epochs", static_cast<double>(result->epochs)}},
                 .loss = WatchedLoss{.value = found.value_loss}};
}

/// Advantages of all ranks on one scale, evened out; the running scale of returns goes on.
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

/// Number of states that hold about lights.ppo.minibatch_size decisions.
std::int64_t PpoLearner::states_of_minibatch(const Experience& experience) const {
  const double states_a_decision = static_cast<double>(experience.total_states) /
                                   static_cast<double>(std::max<std::int64_t>(1, experience.total));
  return std::max<std::int64_t>(
      1, std::llround(static_cast<double>(ppo_.minibatch_size) * states_a_decision));
}

bool PpoLearner::run_epoch(const Experience& experience, const Targets& targets,
                           std::int64_t iteration, UpdateResult& result) {
  const auto minibatches =
      split_minibatches(experience.global_state, experience.total_states, seed_,
                        {.stream = kPolicyMinibatchStream,
                         .iteration = iteration,
                         .epoch = result.epochs,
                         .size = states_of_minibatch(experience)});
  torch::Tensor of_epoch = torch::zeros({rl::kNumPpoSums}, torch::kDouble);
  bool goes_on = true;
  for (const torch::Tensor& states : minibatches) {
    const torch::Tensor decisions =
        experience.by_state.index_select(0, rl::select_segments(experience.states, states).rows);
    const double together = communicator_.all_reduce_scalar(static_cast<double>(decisions.numel()));
    gradients_.zero();
    torch::Tensor sums = torch::zeros({rl::kNumPpoSums}, torch::kDouble);
    if (decisions.numel() > 0) {
      const rl::PpoLoss loss = loss_of(experience, targets, decisions, std::max(1.0, together));
      loss.loss.backward();
      sums += loss.sums;
    }
    gradients_.check_views();
    communicator_.all_reduce(sums);
    of_epoch += sums;
    goes_on = !rl::is_kl_over(rl::ppo_statistics(sums).approx_kl, ppo_.target_kl);
    if (!goes_on) break;
    if (fault::hit("train.step", communicator_.rank(), optimiser_.num_steps()) ==
        fault::Action::kNan) {
      gradients_.flat().narrow(0, 0, 1).fill_(std::nan(""));
    }
    if (const auto norm = optimiser_.reduce()) {
      optimiser_.step(result.learning_rate, comm::clip_factor(*norm, ppo_.clip_norm));
      result.grad_norm += *norm;
    }
    ++result.steps;
  }
  result.statistics = rl::ppo_statistics(of_epoch);
  return goes_on;
}

rl::PpoLoss PpoLearner::loss_of(const Experience& experience, const Targets& targets,
                                const torch::Tensor& decisions, double denominator) {
  const auto of_decisions = [&](const torch::Tensor& x) { return x.index_select(0, decisions); };
  const Taken taken = take(experience, decisions);
  const SignalTerms now = policy_.evaluate(taken.batch, taken.chosen);
  return rl::ppo_loss({.decisions = {.log_prob = now.log_prob,
                                     .old_log_prob = of_decisions(experience.log_prob),
                                     .advantages = of_decisions(targets.advantages),
                                     .entropy = now.entropy},
                       .values = {.values = now.values,
                                  .old_values = of_decisions(targets.values),
                                  .returns = of_decisions(targets.returns)}},
                      {.decisions = denominator, .values = denominator},
                      {.clip_range = ppo_.clip_range,
                       .vf_clip_range = ppo_.vf_clip_range,
                       .ent_coef = ppo_.ent_coef,
                       .vf_coef = ppo_.vf_coef});
}

void PpoLearner::start_from(const checkpoint::Snapshot& snapshot) {
  mean_.start_from(snapshot);
  scale_.load_state(snapshot.tensor("signals/value_scale"));
}

void PpoLearner::restore_from(const checkpoint::Snapshot& snapshot) {
  start_from(snapshot);
  mean_.restore_from(snapshot);
  optimiser_.restore_from(snapshot, "optimizer/signals");
}

void PpoLearner::save_to(checkpoint::Snapshot& snapshot) const {
  mean_.save_to(snapshot);
  snapshot.put_tensor("signals/value_scale", scale_.state());
  optimiser_.save_to(snapshot, "optimizer/signals");
}

}  // namespace traffic::train::signals
