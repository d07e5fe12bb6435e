// Distributions from which a policy draws actions: Categorical and BoundedGaussian.
#include "traffic/rl/distributions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "check.h"
#include "noise.h"

namespace traffic::rl {

Categorical::Categorical(torch::Tensor logits) : logits_(std::move(logits)) {
  check_floating("categorical: logits", logits_, 2);
}

torch::Tensor Categorical::sample(const torch::Tensor& uniforms) const {
  check_like("categorical: uniforms", uniforms, logits_);
  // A plain loop is fast enough: a call samples only a few decisions.
  const std::vector<double> logits = doubles_of(logits_);
  const std::vector<double> uniform_of = doubles_of(uniforms);
  const double* logit = logits.data();
  const double* uniform = uniform_of.data();
  torch::Tensor actions = torch::zeros({logits_.size(0)}, torch::kInt64);
  auto* action = actions.mutable_data_ptr<std::int64_t>();
  for (std::int64_t d = 0; d < logits_.size(0); ++d, ++action) {
    double highest = -std::numeric_limits<double>::infinity();
    for (std::int64_t a = 0; a < logits_.size(1); ++a) {
      const double key = *logit++ + standard_gumbel(*uniform++);
      if (key > highest) *action = a;
      highest = std::max(highest, key);
    }
  }
  return actions.to(logits_.device());
}

torch::Tensor Categorical::greedy() const { return logits_.detach().argmax(1); }

torch::Tensor Categorical::log_probs() const { return logits_.log_softmax(1); }

torch::Tensor Categorical::log_prob(const torch::Tensor& actions) const {
  check_tensor("categorical: actions", actions, {logits_.size(0)}, torch::kInt64, logits_.device());
  return log_probs().gather(1, actions.unsqueeze(1)).squeeze(1);
}

torch::Tensor Categorical::entropy() const {
  const torch::Tensor log_probs_of = log_probs();
  return -(log_probs_of.exp() * log_probs_of).sum(1);
}

BoundedGaussian::BoundedGaussian(torch::Tensor mean, const torch::Tensor& log_std,
                                 ActionBounds bounds)
    : mean_(std::move(mean)), bounds_(bounds) {
  check_floating("gaussian: mean", mean_, 2);
  if (!log_std.defined() || !at::is_expandable_to(log_std.sizes(), mean_.sizes())) {
    throw ShapeError("gaussian: log_std is {}, expected to broadcast to {}", describe(log_std),
                     describe(mean_));
  }
  if (!(bounds.low < bounds.high)) {
    throw ConfigError(
        "gaussian: the lower bound is {} and the upper {}; expected a smaller lower bound",
        bounds.low, bounds.high);
  }
  log_std_ = log_std.expand_as(mean_);
}

torch::Tensor BoundedGaussian::sample(const torch::Tensor& uniforms) const {
  const torch::NoGradGuard no_grad;
  check_like("gaussian: uniforms", uniforms, mean_);
  return mean_ + log_std_.exp() * standard_normal(uniforms);
}

torch::Tensor BoundedGaussian::greedy() const { return mean_.detach(); }

torch::Tensor BoundedGaussian::log_prob(const torch::Tensor& raw) const {
  check_like("gaussian: raw", raw, mean_);
  const torch::Tensor deviation = (raw - mean_) * (-log_std_).exp();
  const double log_root = 0.5 * std::log(2.0 * std::numbers::pi);
  const torch::Tensor density = -0.5 * deviation.square() - log_std_ - log_root;
  // log(1 - tanh(z)^2) in a form without cancellation for large z.
  const torch::Tensor log_slope = 2.0 * (std::numbers::ln2 - raw - torch::softplus(-2.0 * raw));
  return (density - log_slope - std::log(0.5 * (bounds_.high - bounds_.low))).sum(1);
}

torch::Tensor BoundedGaussian::entropy() const {
  return (log_std_ + 0.5 * std::log(2.0 * std::numbers::pi * std::numbers::e)).sum(1);
}

torch::Tensor kl_k3(const torch::Tensor& log_ratio) { return log_ratio.expm1() - log_ratio; }

}  // namespace traffic::rl
