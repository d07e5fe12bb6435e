#include "ppo/learner.h"

#include <algorithm>
#include <array>
#include <utility>

#include "optim/lr_schedule.h"
#include "ppo/epochs.h"
#include "ppo/loss_terms.h"
#include "run/snapshot_parts.h"
#include "traffic/config/scenario_mix.h"
#include "traffic/core/error.h"
#include "traffic/core/random_streams.h"
#include "traffic/rl/schedule.h"

namespace traffic::train {
namespace {

bool is_of_value(const comm::ArenaEntry& entry) {
  return entry.name.starts_with("controller.value");
}

/// Counts the decisions and the value terms of all ranks in each minibatch. The losses of policy
/// and value are divided by these counts. Collective.
std::vector<rl::PpoDenominators> denominators_of(const Experience& experience,
                                                 const std::vector<torch::Tensor>& parts,
                                                 comm::Communicator& communicator) {
  const torch::Tensor counts = count_terms(experience, parts);
  communicator.all_reduce(counts);
  std::vector<rl::PpoDenominators> out;
  const auto* sum = counts.const_data_ptr<double>();
  for (std::size_t i = 0; i < parts.size(); ++i, sum += kNumTerms) {
    out.push_back({.decisions = std::max(1.0, sum[kDecisionTerms]),
                   .values = std::max(1.0, sum[kValueTerms])});
  }
  return out;
}

/// Index of the first parameter of the value network. The parameters of the policy come before it.
std::int64_t begin_of_value(const comm::ParameterArena& parameters) {
  const auto& entries = parameters.entries();
  const auto first = std::find_if(entries.begin(), entries.end(), is_of_value);
  TRAFFIC_CHECK(std::all_of(first, entries.end(), is_of_value),
                "the parameters of the value must come after those of the policy");
  return first == entries.end() ? parameters.flat().numel() : first->offset;
}

}  // namespace

Learner::Learner(const config::Config& config, Policy& policy, comm::Communicator& communicator,
                 std::int64_t conflicts, const Terms& terms)
    : ppo_(config.ppo),
      iterations_(config.training.iterations),
      imitation_iterations_(config.imitation.iterations),
      seed_(static_cast<std::uint64_t>(config.run.seed)),
      scenarios_(static_cast<std::int64_t>(config::scenario_mix(config.env).size())),
      conflicts_(conflicts),
      policy_(policy),
      communicator_(communicator),
      terms_(terms),
      parameters_(policy.parameters()),
      gradients_(parameters_, communicator),
      policy_optimiser_(slice("policy", 0, begin_of_value(parameters_)), communicator),
      critic_(config,
              {.network = [this](const torch::Tensor& rows) { return policy_.value(rows); },
               .gradients = gradients_,
               .slice = slice("value", begin_of_value(parameters_), parameters_.flat().numel()),
               .conflicts = conflicts},
              {.signal = &Experience::rewards,
               .learning_rate = ppo_.learning_rate,
               .weight = ppo_.vf_coef,
               .stream = kValueMinibatchStream,
               .optimizer_entry = "optimizer/value",
               .scale_entry = "ppo/value_scale",
               .fitted_entry = "ppo/value_fitted"},
              communicator) {}

ParameterSlice Learner::slice(const char* name, std::int64_t begin, std::int64_t end) const {
  return {.name = name,
          .learning_rate_key = "ppo.learning_rate",
          .parameters = parameters_.flat().slice(0, begin, end),
          .gradients = gradients_.flat().slice(0, begin, end),
          .weight_decay = ppo_.weight_decay};
}

std::optional<UpdateResult> Learner::update(const Experience& experience, std::int64_t total_states,
                                            std::int64_t iteration, std::int64_t first_iteration) {
  UpdateResult result;
  const double progress = static_cast<double>(iteration) / static_cast<double>(iterations_);
  const rl::LinearSchedule entropy{.start = ppo_.ent_coef,
                                   .end = ppo_.ent_coef * ppo_.final_ent_share};
  const double rate = step_factor_ * schedule_of(ppo_, iterations_, first_iteration).at(iteration);
  result.learning_rate = kl_factor_ * rate;
  result.ent_coef = ent_coef_ = entropy.at(progress);
  fit_value(experience, total_states, iteration, result);
  const PpoTargets targets = make_targets(experience, total_states, iteration, result);
  std::array optimisers{
      OptimiserStep{.optimiser = critic_.optimiser(), .learning_rate = rate},
      OptimiserStep{.optimiser = policy_optimiser_, .learning_rate = result.learning_rate}};
  const auto epochs = run_epochs(
      {.num_epochs = ppo_.num_epochs,
       .accumulation_steps = ppo_.accumulation_steps,
       .target_kl = ppo_.target_kl,
       .clip_norm = ppo_.clip_norm,
       .seed = seed_,
       .iteration = iteration,
       .minibatch_states = ppo_.minibatch_size,
       .global_state = experience.global_state,
       .total_states = total_states,
       .gradients = gradients_,
       .optimisers = optimisers,
       .count =
           [&](const auto& parts) { return denominators_of(experience, parts, communicator_); },
       .loss =
           [&](const torch::Tensor& states, const rl::PpoDenominators& denominators) {
             return std::optional(loss_of(experience, targets, states, denominators));
           }},
      communicator_);
  if (!epochs) return std::nullopt;
  result.statistics = epochs->statistics;
  result.grad_norm = epochs->grad_norm;
  result.epochs = epochs->epochs;
  result.steps = epochs->steps;
  if (ppo_.desired_kl > 0.0) follow_kl(result.statistics.approx_kl);
  return result;
}

/// Adapts the learning rate by the rule of the libraries rl_games and rsl_rl. The description of
/// the configuration key ppo.desired_kl explains the rule.
void Learner::follow_kl(double kl) {
  constexpr double kStep = 1.5;
  constexpr double kMaximum = 10.0;
  if (kl < 0.5 * ppo_.desired_kl) kl_factor_ = std::min(kMaximum, kl_factor_ * kStep);
  if (kl > 2.0 * ppo_.desired_kl) kl_factor_ = std::max(1.0 / kMaximum, kl_factor_ / kStep);
}

rl::PpoLoss Learner::loss_of(const Experience& experience, const PpoTargets& targets,
                             const torch::Tensor& states, const rl::PpoDenominators& denominators) {
  const torch::Device device = policy_.device();
  const Minibatch part = take(experience, states, device);
  const LossTerms terms = take_loss_terms(experience, targets, part, device);
  return rl::ppo_loss(loss_inputs(policy_, part.input, part.decisions, terms), denominators,
                      {.clip_range = ppo_.clip_range,
                       .vf_clip_range = ppo_.vf_clip_range,
                       .ent_coef = ent_coef_,
                       .vf_coef = ppo_.vf_coef});
}

void Learner::save_to(checkpoint::Snapshot& snapshot) const {
  put_parameters(snapshot, parameters_.parameters());
  policy_optimiser_.save_to(snapshot, "optimizer/policy");
  snapshot.put_real("ppo/kl_factor", kl_factor_);
  critic_.save_to(snapshot);
}

void Learner::start_from(const checkpoint::Snapshot& snapshot) {
  copy_parameters(snapshot, parameters_.parameters());
  critic_.start_from(snapshot);
}

void Learner::restore_from(const checkpoint::Snapshot& snapshot) {
  copy_parameters(snapshot, parameters_.parameters());
  critic_.restore_from(snapshot);
  policy_optimiser_.restore_from(snapshot, "optimizer/policy");
  kl_factor_ = snapshot.real("ppo/kl_factor");
}

}  // namespace traffic::train
