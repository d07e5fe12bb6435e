// The network that commands connected vehicles: its layers, its initial weights and its outputs.
#include "traffic/model/controller.h"

#include <torch/nn/modules/linear.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <cmath>
#include <string>

#include "controller_heads.h"
#include "perceptron.h"
#include "traffic/core/error.h"
#include "traffic/model/initialise.h"

namespace traffic::model {
namespace {

constexpr std::int64_t kLanes = 3;        ///< lane changes: right, keep, left
constexpr std::int64_t kKeep = 1;         ///< index of keep among the lane changes
constexpr std::int64_t kNone = 0;         ///< index of the command "none"
constexpr double kFirstKeep = 0.9;        ///< initial probability of keeping the lane
constexpr float kFirstHeadScale = 0.01F;  ///< factor of the heads' initial weights

/// Logit that gives a choice this probability if all other choices have logit 0.
/// @param choices number of choices
double logit_of(double probability, std::int64_t choices) {
  return std::log(probability / (1.0 - probability) * static_cast<double>(choices - 1));
}

}  // namespace

ControllerImpl::ControllerImpl(const config::Vehicles& vehicles, const ControllerInputs& inputs)
    : inputs_(inputs),
      importance_weight_(vehicles.importance_weight),
      impact_weight_(vehicles.impact_weight),
      first_command_probability_(vehicles.first_command_probability),
      advice_probability_(vehicles.advice_probability),
      categorical_(vehicles.longitudinal == "categorical") {
  TRAFFIC_CHECK(inputs.own + inputs.shared > 0 && inputs.impact + inputs.advice <= inputs.own,
                "a controller needs inputs, and the columns of impact and advice must be among "
                "those of the own inputs");
  using torch::nn::Linear;
  using torch::nn::LinearOptions;
  const std::int64_t width = vehicles.hidden_dim;
  if (inputs.own > 0) own_ = register_module("own", Linear(inputs.own, width));
  if (inputs.shared > 0) shared_ = register_module("shared", Linear(inputs.shared, width));
  for (std::int64_t i = 1; i < vehicles.layers; ++i) {
    hidden_.push_back(register_module("hidden" + std::to_string(i), Linear(width, width)));
  }
  const auto commands = categorical_ ? static_cast<std::int64_t>(vehicles.commands.size()) : 1;
  longitudinal_ = register_module("longitudinal", Linear(width, commands));
  if (inputs.advice > 0) {
    TRAFFIC_CHECK(categorical_ && inputs.advice == commands,
                  "advice has {} columns and there are {} commands; expected categorical commands "
                  "and one column for each",
                  inputs.advice, commands);
    advice_ = register_module("advice", Linear(LinearOptions(commands, commands).bias(false)));
  }
  if (!categorical_) log_std_ = register_parameter("log_std", torch::zeros({1}));
  if (vehicles.lane_change) lane_ = register_module("lane", Linear(width, kLanes));
  importance_ = register_module("importance", Linear(LinearOptions(width, 1).bias(false)));
  if (inputs.impact > 0)
    impact_ = register_module("impact", Linear(LinearOptions(inputs.impact, 1).bias(false)));
  for (std::int64_t i = 0; i < vehicles.layers; ++i) {
    const std::int64_t in = i == 0 ? inputs.conflict : width;
    value_hidden_.push_back(register_module("value_hidden" + std::to_string(i), Linear(in, width)));
  }
  value_ = register_module("value", Linear(width, 1));
}

void ControllerImpl::reset(std::uint64_t seed) {
  initialise(*this, seed);
  const torch::NoGradGuard no_grad;
  for (auto* head : {&longitudinal_, &lane_, &importance_, &impact_, &value_}) {
    if (head->is_empty()) continue;
    (*head)->weight.mul_(kFirstHeadScale);
    if ((*head)->bias.defined()) (*head)->bias.zero_();
  }
  if (!advice_.is_empty()) {
    const std::int64_t commands = advice_->weight.size(0);
    advice_->weight.copy_(torch::eye(commands) * logit_of(advice_probability_, commands));
    const double other = kUnadvised * (1.0 - advice_probability_);
    advice_->weight[kNone][kNone] = logit_of(1.0 - other, commands);
  } else if (categorical_) {
    const double none = 1.0 - first_command_probability_;
    longitudinal_->bias[kNone] = logit_of(none, longitudinal_->bias.size(0));
  }
  if (!lane_.is_empty()) lane_->bias[kKeep] = logit_of(kFirstKeep, kLanes);
}

ControllerOutput ControllerImpl::forward(const CandidateBatch& candidates) {
  PerceptronParameters trunk{.hidden = parameters_of(hidden_)};
  if (!own_.is_empty()) trunk.rows = parameters_of(own_);
  if (!shared_.is_empty()) trunk.shared = parameters_of(shared_);
  const torch::Tensor x =
      perceptron({.rows = own_.is_empty() ? torch::Tensor() : candidates.own,
                  .shared = shared_.is_empty() ? torch::Tensor() : candidates.shared,
                  .group = candidates.state},
                 trunk);
  torch::Tensor latents;
  if (!impact_.is_empty()) {
    latents = candidates.own.narrow(1, inputs_.own - inputs_.impact, inputs_.impact);
  }
  torch::Tensor advice;
  if (!advice_.is_empty()) advice = advised(candidates.own);
  ControllerOutput out =
      categorical_ ? commands_and_score(x, latents, advice) : mean_and_score(x, latents);
  if (!lane_.is_empty()) out.lane = lane_(x);
  return out;
}

ControllerOutput ControllerImpl::commands_and_score(const torch::Tensor& x,
                                                    const torch::Tensor& latents,
                                                    const torch::Tensor& advised) {
  torch::Tensor read = x;
  torch::Tensor command_weight = longitudinal_->weight;
  torch::Tensor importance_weight = importance_->weight;
  if (advised.defined()) {
    read = torch::cat({x, advised}, 1);
    command_weight = torch::cat({command_weight, advice_->weight}, 1);
    importance_weight = torch::cat({importance_weight, advised.new_zeros({1, advised.size(1)})}, 1);
  }
  const HeadOutputs heads =
      controller_heads(read, latents,
                       {.command_weight = command_weight,
                        .command_bias = longitudinal_->bias,
                        .importance_weight = importance_weight,
                        .impact_weight = impact_.is_empty() ? torch::Tensor() : impact_->weight},
                       {.importance = importance_weight_, .impact = impact_weight_});
  return {.longitudinal = heads.commands, .log_std = {}, .lane = {}, .score = heads.score};
}

ControllerOutput ControllerImpl::mean_and_score(const torch::Tensor& x,
                                                const torch::Tensor& latents) {
  torch::Tensor score = importance_weight_ * importance_(x).squeeze(1);
  if (latents.defined()) score = score + impact_weight_ * impact_(latents).squeeze(1);
  return {.longitudinal = longitudinal_(x), .log_std = log_std_, .lane = {}, .score = score};
}

torch::Tensor ControllerImpl::value(const torch::Tensor& conflicts) {
  return value_(perceptron(conflicts, value_hidden_)).squeeze(1);
}

}  // namespace traffic::model
