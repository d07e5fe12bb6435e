#include "ppo/learner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ppo/loss_terms.h"
#include "ppo/value_fit.h"
#include "run/snapshot_parts.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"
#include "traffic/core/random_streams.h"
#include "traffic/core/signals.h"
#include "traffic/rl/schedule.h"

namespace traffic::train {
namespace {

bool is_of_value(const comm::ArenaEntry& entry) {
  return entry.name.starts_with("controller.value");
}

/// What each part's sums are divided by. Collective.
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

/// Where the value begins, behind the parameters of the policy.
std::int64_t begin_of_value(const comm::ParameterArena& parameters) {
  const auto& entries = parameters.entries();
  const auto first = std::find_if(entries.begin(), entries.end(), is_of_value);
  TRAFFIC_CHECK(std::all_of(first, entries.end(), is_of_value), "the value's parameters are last");
  return first == entries.end() ? parameters.flat().numel() : first->offset;
}

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
      policy_optimiser_(stretch("policy", 0, begin_of_value(parameters_)), ppo_.clip_norm,
                        communicator),
      value_optimiser_(stretch("value", begin_of_value(parameters_), parameters_.flat().numel()),
                       ppo_.clip_norm, communicator),
      value_scale_(conflicts) {}

StretchOptimiser::Stretch Learner::stretch(const char* name, std::int64_t begin,
                                           std::int64_t end) const {
  return {.name = name,
          .learning_rate_key = "ppo.learning_rate",
          .parameters = parameters_.flat().slice(0, begin, end),
          .gradients = gradients_.flat().slice(0, begin, end)};
}

std::optional<UpdateResult> Learner::update(const Experience& experience, std::int64_t total_states,
                                            std::int64_t iteration) {
  UpdateResult result;
  const rl::LinearSchedule schedule{.start = ppo_.learning_rate, .end = ppo_.final_learning_rate};
  result.learning_rate =
      schedule.at(static_cast<double>(iteration) / static_cast<double>(ppo_.iterations));
  follow_returns(experience, total_states, iteration, result);
  const PpoTargets targets = make_targets(experience, total_states, iteration, result);
  for (std::int64_t epoch = 0; epoch < ppo_.num_epochs; ++epoch) {
    if (is_given_up()) return std::nullopt;
    const auto parts = split_minibatches(experience, total_states, seed_,
                                         {.stream = kPolicyMinibatchStream,
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

bool Learner::is_given_up() {
  return communicator_.all_reduce_scalar(stop_requested() ? 1.0 : 0.0) > 0.0;
}

void Learner::follow_returns(const Experience& experience, std::int64_t total_states,
                             std::int64_t iteration, UpdateResult& result) {
  if (!value_fitted_) fit_value_first(experience, total_states);
  const Values values = values_of(experience);
  const torch::Tensor before = value_scale_.restore(values.states);
  const torch::Tensor returns = advantages(experience, values, ppo_.value_lambda) + before;
  result.explained_variance = explained_variance(experience, returns, before);
  if (ppo_.value_epochs > 0) {
    fit_value(experience, total_states, value_scale_.standardise(returns).to(torch::kFloat),
              iteration + 1, ppo_.value_epochs);
  }
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
                     .step =
                         [this] {
                           gradients_.check_views();
                           value_optimiser_.step(ppo_.learning_rate);
                         },
                     .weight = ppo_.vf_coef};
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    const auto parts = split_minibatches(experience, total_states, seed_,
                                         {.stream = kValueMinibatchStream,
                                          .iteration = iteration,
                                          .epoch = epoch,
                                          .size = std::min(ppo_.minibatch_size, kValueMinibatch)});
    fit_pass(experience, returns, parts, fit, communicator_);
  }
}

rl::PpoLoss Learner::loss_of(const Experience& experience, const PpoTargets& targets,
                             const torch::Tensor& states, const rl::PpoDenominators& denominators) {
  const torch::Device device = policy_.device();
  const Minibatch part = take(experience, states, device);
  const LossTerms terms = take_loss_terms(experience, targets, part, device);
  return rl::ppo_loss(loss_inputs(policy_, part.input, part.decisions, terms), denominators,
                      coefficients());
}

rl::PpoCoefficients Learner::coefficients() const {
  return {.clip_range = ppo_.clip_range,
          .vf_clip_range = ppo_.vf_clip_range,
          .ent_coef = ppo_.ent_coef,
          .vf_coef = ppo_.vf_coef};
}

torch::Tensor Learner::accumulate(const Experience& experience, const PpoTargets& targets,
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

bool Learner::run_epoch(const Experience& experience, const PpoTargets& targets,
                        const std::vector<torch::Tensor>& parts, UpdateResult& result) {
  const auto n = static_cast<std::int64_t>(parts.size());
  const auto counts = denominators_of(experience, parts, communicator_);
  torch::Tensor sums = torch::zeros({rl::kNumPpoSums}, torch::kDouble);
  bool went_on = true;
  for (std::int64_t i = 0; i < n; ++i) {
    gradients_.zero();
    torch::Tensor of_part = accumulate(experience, targets, parts[static_cast<std::size_t>(i)],
                                       counts[static_cast<std::size_t>(i)]);
    communicator_.all_reduce(of_part);
    sums += of_part;
    went_on = !rl::is_kl_over(rl::ppo_statistics(of_part).approx_kl, ppo_.target_kl);
    if (!went_on) break;
    if (fault::hit("train.step", communicator_.rank(), policy_optimiser_.num_steps()) ==
        fault::Action::kNan) {
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
  value_optimiser_.step(learning_rate);
  return policy_optimiser_.step(learning_rate);
}

void Learner::save_to(checkpoint::Snapshot& snapshot) const {
  put_parameters(snapshot, parameters_.parameters());
  policy_optimiser_.save_to(snapshot, "optimizer/policy");
  value_optimiser_.save_to(snapshot, "optimizer/value");
  snapshot.put_tensor("ppo/value_scale", value_scale_.state());
  snapshot.put_int("ppo/value_fitted", value_fitted_ ? 1 : 0);
}

void Learner::start_from(const checkpoint::Snapshot& snapshot) {
  copy_parameters(snapshot, parameters_.parameters());
  value_scale_.load_state(snapshot.tensor("ppo/value_scale", {3, conflicts_}, torch::kDouble));
  value_fitted_ = snapshot.integer("ppo/value_fitted") != 0;
}

void Learner::restore_from(const checkpoint::Snapshot& snapshot) {
  start_from(snapshot);
  policy_optimiser_.restore_from(snapshot, "optimizer/policy");
  value_optimiser_.restore_from(snapshot, "optimizer/value");
}

}  // namespace traffic::train
