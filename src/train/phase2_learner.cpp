#include "phase2_learner.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "snapshot_parts.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"
#include "traffic/rl/advantages.h"
#include "traffic/rl/schedule.h"
#include "value_fit.h"

namespace traffic::train {
namespace {

constexpr std::uint64_t kMinibatchStream = 11;
constexpr std::uint64_t kValueStream = 12;
constexpr std::int64_t kMaxSkippedInARow = 10;

}  // namespace

Learner::Learner(const config::Config& config, Policy& policy, comm::Communicator& communicator,
                 std::int64_t conflicts, Constraint* constraint)
    : ppo_(config.ppo),
      seed_(static_cast<std::uint64_t>(config.run.seed)),
      conflicts_(conflicts),
      policy_(policy),
      communicator_(communicator),
      constraint_(constraint),
      parameters_(policy.parameters()),
      gradients_(parameters_, communicator),
      adam_(parameters_.flat(), {.weight_decay = 0.0}),
      value_scale_(conflicts) {}

UpdateResult Learner::update(const Experience& experience, std::int64_t total_states,
                             std::int64_t iteration) {
  UpdateResult result;
  const rl::LinearSchedule schedule{.start = ppo_.learning_rate, .end = ppo_.final_learning_rate};
  result.learning_rate =
      schedule.at(static_cast<double>(iteration) / static_cast<double>(ppo_.iterations));
  if (!value_fitted_) fit_value_first(experience, total_states);
  const Values values = values_of(experience);
  const torch::Tensor before = value_scale_.restore(values.states);
  const torch::Tensor returns = advantages(experience, values, ppo_.value_lambda) + before;
  result.explained_variance = explained_variance(experience, returns, before);
  if (ppo_.value_epochs > 0) {
    fit_value(experience, total_states, value_scale_.standardise(returns).to(torch::kFloat),
              iteration + 1, ppo_.value_epochs);
  }
  const Targets targets = make_targets(experience, total_states, iteration, result);
  for (std::int64_t epoch = 0; epoch < ppo_.num_epochs; ++epoch) {
    const auto parts = split_minibatches(experience, total_states, seed_,
                                         {.stream = kMinibatchStream,
                                          .iteration = iteration,
                                          .epoch = epoch,
                                          .size = ppo_.minibatch_size});
    const bool went_on = run_epoch(experience, targets, parts, result);
    ++result.epochs;
    if (!went_on) break;
  }
  result.grad_norm /= static_cast<double>(std::max<std::int64_t>(1, result.steps));
  return result;
}

Learner::Values Learner::values_of(const Experience& experience) {
  const torch::NoGradGuard no_grad;
  const auto compute = [&](const torch::Tensor& conflicts) {
    const auto rows = conflicts.flatten(0, 1).to(policy_.device());
    return policy_.value(rows).to(torch::kCPU).view({-1, conflicts_});
  };
  return {.states = compute(experience.conflict), .final = compute(experience.final_conflict)};
}

torch::Tensor Learner::advantages(const Experience& experience, const Values& values,
                                  double gae_lambda) const {
  return advantages_of(experience, experience.rewards,
                       {value_scale_.restore(values.states), value_scale_.restore(values.final)},
                       ppo_.gamma, gae_lambda);
}

double Learner::explained_variance(const Experience& experience, const torch::Tensor& returns,
                                   const torch::Tensor& values) {
  const auto variance = [&](const torch::Tensor& x) {
    const torch::Tensor deviation =
        rl::scale_of(moments_over_ranks(x, experience, communicator_)).deviation;
    return deviation.square().sum().item<double>();
  };
  return 1.0 - variance(returns - values) / variance(returns);
}

void Learner::fit_value_first(const Experience& experience, std::int64_t total_states) {
  // Without a value to bootstrap from, the returns are those of whole trajectories.
  const Values values = values_of(experience);
  const torch::Tensor returns =
      advantages(experience, values, 1.0) + value_scale_.restore(values.states);
  value_scale_.update(moments_over_ranks(returns, experience, communicator_));
  fit_value(experience, total_states, value_scale_.standardise(returns).to(torch::kFloat), 0,
            ppo_.value_first_epochs);
  value_fitted_ = true;
}

void Learner::fit_value(const Experience& experience, std::int64_t total_states,
                        const torch::Tensor& returns, std::int64_t iteration, std::int64_t epochs) {
  const ValueFit fit{.value = [this](const torch::Tensor& rows) { return policy_.value(rows); },
                     .zero_gradients = [this] { gradients_.zero(); },
                     .step = [this] { step(ppo_.learning_rate); },
                     .weight = ppo_.vf_coef};
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    const auto parts = split_minibatches(experience, total_states, seed_,
                                         {.stream = kValueStream,
                                          .iteration = iteration,
                                          .epoch = epoch,
                                          .size = std::min(ppo_.minibatch_size, kValueMinibatch)});
    fit_pass(experience, returns, parts, fit, communicator_);
  }
}

Learner::Targets Learner::make_targets(const Experience& experience, std::int64_t total_states,
                                       std::int64_t iteration, UpdateResult& result) {
  Targets targets;
  const Values values = values_of(experience);
  const torch::Tensor in_units = advantages(experience, values, ppo_.gae_lambda);
  const torch::Tensor returns = in_units + value_scale_.restore(values.states);
  const torch::Tensor moments = moments_over_ranks(returns, experience, communicator_);
  result.mean_return = moments[rl::kSum].sum().item<double>() /
                       std::max(1.0, moments[rl::kCount].sum().item<double>());
  value_scale_.update(moments);
  targets.returns = value_scale_.standardise(returns).to(torch::kFloat);
  targets.old_values = values.states;
  const Climb climb = constraint_ == nullptr
                          ? Climb{.advantages = in_units, .own_cost = experience.own_cost}
                          : constraint_->weigh({.experience = experience,
                                                .reward_advantages = in_units,
                                                .total_states = total_states,
                                                .iteration = iteration});
  add_policy_targets(experience, climb, targets);
  return targets;
}

void Learner::add_policy_targets(const Experience& experience, const Climb& climb,
                                 Targets& targets) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor& in_units = climb.advantages;
  // The scale is that of the states in which something was decided.
  const torch::Tensor flat = in_units.flatten().index_select(
      0, experience.decision_state * conflicts_ + experience.decision_conflict);
  torch::Tensor per_conflict = torch::zeros({flat.size(0), conflicts_});
  per_conflict.scatter_(1, experience.decision_conflict.unsqueeze(1), flat.unsqueeze(1));
  torch::Tensor moments =
      rl::moments_of(per_conflict, conflicts_,
                     torch::zeros({flat.size(0), conflicts_}, torch::kBool)
                         .scatter_(1, experience.decision_conflict.unsqueeze(1), true));
  communicator_.all_reduce(moments);
  const rl::Scale scale = rl::scale_of(moments);
  targets.advantages = rl::decision_advantages({.advantages = in_units,
                                                .state = experience.decision_state,
                                                .conflict = experience.decision_conflict,
                                                .own_cost = climb.own_cost},
                                               scale);
  const torch::Tensor standard = (in_units - scale.mean) / scale.deviation;
  const torch::Tensor cost = torch::zeros({experience.num_states()})
                                 .index_add(0, experience.decision_state, climb.own_cost);
  const auto mean = [&](const torch::Tensor& of_conflicts) {
    return (of_conflicts * experience.exists).sum(1) / experience.exists.sum(1);
  };
  targets.selection = (mean(standard) - cost / mean(scale.deviation)).to(torch::kFloat);

  const torch::Tensor everything = torch::arange(experience.num_states());
  const Minibatch all = take(experience, everything, policy_.device());
  const PolicyTermsOf terms = policy_.evaluate(all.input, all.decisions);
  targets.old_log_prob = terms.log_prob.to(torch::kCPU);
  targets.old_selection = terms.selection_log_prob.to(torch::kCPU);
}

rl::PpoLoss Learner::loss_of(const Experience& experience, const Targets& targets,
                             const torch::Tensor& states, const rl::PpoDenominators& denominators) {
  const torch::Device device = policy_.device();
  const Minibatch part = take(experience, states, device);
  const PolicyTermsOf terms = policy_.evaluate(part.input, part.decisions);
  const torch::Tensor conflicts = experience.conflict.index_select(0, states).to(device);
  const auto of_states = [&](const torch::Tensor& x) {
    return x.index_select(0, states).to(device);
  };
  const auto of_decisions = [&](const torch::Tensor& x) {
    return x.index_select(0, part.decision_of).to(device);
  };
  return rl::ppo_loss(
      {.decisions = {.log_prob = terms.log_prob,
                     .old_log_prob = of_decisions(targets.old_log_prob),
                     .advantages = of_decisions(targets.advantages),
                     .entropy = terms.entropy},
       .selections = {.log_prob = terms.selection_log_prob,
                      .old_log_prob = of_states(targets.old_selection),
                      .advantages = of_states(targets.selection),
                      .entropy = terms.selection_entropy,
                      .mask = of_states(experience.selection_decides)},
       .values = {.values = policy_.value(conflicts.flatten(0, 1)).view({-1, conflicts_}),
                  .old_values = of_states(targets.old_values),
                  .returns = of_states(targets.returns),
                  .mask = of_states(experience.exists)}},
      denominators,
      {.clip_range = ppo_.clip_range,
       .vf_clip_range = ppo_.vf_clip_range,
       .ent_coef = ppo_.ent_coef,
       .vf_coef = ppo_.vf_coef});
}

torch::Tensor Learner::accumulate(const Experience& experience, const Targets& targets,
                                  const torch::Tensor& states,
                                  const rl::PpoDenominators& denominators) {
  torch::Tensor sums = torch::zeros({rl::kNumPpoSums}, torch::kDouble);
  for (const torch::Tensor& part : states.tensor_split(ppo_.accumulation_steps)) {
    const rl::PpoLoss loss = loss_of(experience, targets, part, denominators);
    loss.loss.backward();
    sums += loss.sums.to(torch::kCPU);
  }
  return sums;
}

bool Learner::run_epoch(const Experience& experience, const Targets& targets,
                        const std::vector<torch::Tensor>& parts, UpdateResult& result) {
  const auto n = static_cast<std::int64_t>(parts.size());
  torch::Tensor counts = torch::zeros({n, 2}, torch::kDouble);
  const torch::Tensor decided = experience.decided.sizes().to(torch::kCPU);
  for (std::int64_t i = 0; i < n; ++i) {
    const torch::Tensor& states = parts[static_cast<std::size_t>(i)];
    counts[i][0] = decided.index_select(0, states).sum().to(torch::kDouble);
    counts[i][1] = experience.exists.index_select(0, states).sum().to(torch::kDouble);
  }
  communicator_.all_reduce(counts);
  counts.clamp_min_(1.0);
  torch::Tensor sums = torch::zeros({rl::kNumPpoSums}, torch::kDouble);
  bool went_on = true;
  for (std::int64_t i = 0; i < n; ++i) {
    gradients_.zero();
    torch::Tensor of_part = accumulate(
        experience, targets, parts[static_cast<std::size_t>(i)],
        {.decisions = counts[i][0].item<double>(), .values = counts[i][1].item<double>()});
    communicator_.all_reduce(of_part);
    sums += of_part;
    went_on = !rl::is_kl_over(rl::ppo_statistics(of_part).approx_kl, ppo_.target_kl);
    if (!went_on) break;
    if (fault::hit("train.step", communicator_.rank(), adam_.num_steps()) == fault::Action::kNan) {
      gradients_.flat().narrow(0, 0, 1).fill_(std::nan(""));
    }
    result.grad_norm += step(result.learning_rate);
    ++result.steps;
  }
  result.statistics = rl::ppo_statistics(sums);
  return went_on;
}

double Learner::step(double learning_rate) {
  gradients_.check_views();
  const double squares = communicator_.all_reduce_scaled(gradients_.flat(), 1.0);
  if (!std::isfinite(squares)) {
    ++skipped_steps_;
    if (++skipped_in_a_row_ >= kMaxSkippedInARow) {
      throw NumericError(
          "{} policy steps in a row had a gradient that is not finite; the checkpoints from before "
          "are whole: resume with a lower ppo.learning_rate",
          skipped_in_a_row_);
    }
    spdlog::warn("policy step {}: the gradient is not finite; all ranks skip it",
                 adam_.num_steps());
    return 0.0;
  }
  skipped_in_a_row_ = 0;
  const double norm = std::sqrt(squares);
  constexpr double kEps = 1e-6;
  adam_.step(gradients_.flat(), learning_rate,
             norm > ppo_.clip_norm ? ppo_.clip_norm / (norm + kEps) : 1.0);
  return norm;
}

void Learner::save_to(checkpoint::Snapshot& snapshot) const {
  put_parameters(snapshot, parameters_.parameters());
  put_adam(snapshot, "optimizer", adam_);
  snapshot.put_tensor("ppo/value_scale", value_scale_.state());
  snapshot.put_int("ppo/value_fitted", value_fitted_ ? 1 : 0);
  snapshot.put_int("ppo/skipped_steps", skipped_steps_);
  snapshot.put_int("ppo/skipped_in_a_row", skipped_in_a_row_);
}

void Learner::start_from(const checkpoint::Snapshot& snapshot) {
  copy_parameters(snapshot, parameters_.parameters());
  value_scale_.load_state(snapshot.tensor("ppo/value_scale", {3, conflicts_}, torch::kDouble));
  value_fitted_ = snapshot.integer("ppo/value_fitted") != 0;
}

void Learner::restore_from(const checkpoint::Snapshot& snapshot) {
  start_from(snapshot);
  restore_adam(snapshot, "optimizer", adam_);
  skipped_steps_ = snapshot.integer("ppo/skipped_steps");
  skipped_in_a_row_ = snapshot.integer("ppo/skipped_in_a_row");
}

}  // namespace traffic::train
