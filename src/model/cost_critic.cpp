// The network that predicts the safety cost of a conflict (phase 3 of training).
#include "traffic/model/cost_critic.h"

#include <torch/nn/modules/linear.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <string>

#include "perceptron.h"
#include "traffic/model/initialise.h"

namespace traffic::model {
namespace {

constexpr float kFirstValueScale = 0.01F;  ///< factor of the last layer's initial weights

}  // namespace

CostCriticImpl::CostCriticImpl(const config::Lagrange& sizes, std::int64_t inputs) {
  using torch::nn::Linear;
  const std::int64_t width = sizes.critic_hidden_dim;
  for (std::int64_t i = 0; i < sizes.critic_layers; ++i) {
    hidden_.push_back(
        register_module("hidden" + std::to_string(i), Linear(i == 0 ? inputs : width, width)));
  }
  value_ = register_module("value", Linear(width, 1));
}

void CostCriticImpl::reset(std::uint64_t seed) {
  initialise(*this, seed);
  const torch::NoGradGuard no_grad;
  value_->weight.mul_(kFirstValueScale);
  value_->bias.zero_();
}

torch::Tensor CostCriticImpl::forward(const torch::Tensor& conflicts) {
  return value_(perceptron(conflicts, hidden_)).squeeze(1);
}

}  // namespace traffic::model
