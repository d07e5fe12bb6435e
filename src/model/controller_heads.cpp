// The output layers of the vehicles' controller: as one node of the autograd graph, and in ATen
// operations.
#include "controller_heads.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/mv.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>

#include "dense_products.h"

namespace traffic::model {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The sum of exp(x) over all n values except the first, scaled to avoid overflow.
struct SumOfRest {
  float highest;  ///< the largest of these values
  float sum;      ///< sum of exp(x - highest)

  SumOfRest(const float* x, std::int64_t n) : highest(*std::max_element(x + 1, x + n)), sum(0.0F) {
    for (std::int64_t a = 1; a < n; ++a) sum += std::exp(x[a] - highest);
  }
  [[nodiscard]] float log() const { return highest + std::log(sum); }
  /// Derivative of log() with respect to one of the values, which is x.
  [[nodiscard]] float share_of(float x) const { return std::exp(x - highest) / sum; }
};

HeadOutputs run_heads(const at::Tensor& x, const at::Tensor& latents,
                      const HeadParameters& parameters, const HeadScales& scales) {
  const at::Tensor commands = dense(x, parameters.command_weight, parameters.command_bias);
  const at::Tensor score = at::mv(x, parameters.importance_weight.select(0, 0));
  const std::int64_t actions = commands.size(1);
  const auto* logit = commands.const_data_ptr<float>();
  auto* out = score.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < x.size(0); ++i, logit += actions) {
    const float odds = SumOfRest(logit, actions).log() - logit[0];
    out[i] = static_cast<float>(scales.importance) * (out[i] + odds);
  }
  if (latents.defined()) {
    score.add_(at::mv(latents, parameters.impact_weight.select(0, 0)), scales.impact);
  }
  return {commands, score};
}

/// Inputs that are not differentiated.
struct HeadConstants {
  at::Tensor latents;
  HeadScales scales;
};

/// The heads as one node of the autograd graph.
struct HeadsNode : torch::autograd::Function<HeadsNode> {
  /// @param impact contains the weight of the impact, or nothing
  static variable_list forward(AutogradContext* context, const at::Tensor& x,
                               const at::Tensor& command_weight, const at::Tensor& command_bias,
                               const at::Tensor& importance_weight, at::TensorList impact,
                               const HeadConstants& constants) {
    const HeadParameters parameters{.command_weight = command_weight,
                                    .command_bias = command_bias,
                                    .importance_weight = importance_weight,
                                    .impact_weight = impact.empty() ? at::Tensor() : impact[0]};
    const HeadOutputs out = run_heads(x, constants.latents, parameters, constants.scales);
    context->save_for_backward(
        {x, command_weight, importance_weight, out.commands, constants.latents});
    context->saved_data["importance"] = constants.scales.importance;
    context->saved_data["impact"] = constants.scales.impact;
    return {out.commands, out.score};
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& x = saved[0];
    const at::Tensor& commands = saved[3];
    const at::Tensor& latents = saved[4];
    const auto importance = context->saved_data["importance"].toDouble();
    const std::int64_t actions = commands.size(1);
    // Gradient of the logits: directly from the commands, and through the score.
    const at::Tensor by_commands = grads[0].clone(at::MemoryFormat::Contiguous);
    const at::Tensor by_score = (grads[1] * importance).contiguous();
    auto* grad = by_commands.mutable_data_ptr<float>();
    const auto* logit = commands.const_data_ptr<float>();
    for (std::int64_t i = 0; i < x.size(0); ++i, grad += actions, logit += actions) {
      const float of_score = by_score.const_data_ptr<float>()[i];
      const SumOfRest rest(logit, actions);
      grad[0] -= of_score;
      for (std::int64_t a = 1; a < actions; ++a) {
        grad[a] += of_score * rest.share_of(logit[a]);
      }
    }
    variable_list out{at::addmm(product(by_commands, saved[1]), by_score.unsqueeze(1), saved[2]),
                      product_of_transposed(by_commands, x), sum_rows(by_commands),
                      product(by_score.unsqueeze(0), x)};
    if (latents.defined()) {
      out.push_back(
          product((grads[1] * context->saved_data["impact"].toDouble()).unsqueeze(0), latents));
    }
    out.emplace_back();  // no gradient for the constants
    return out;
  }
};

}  // namespace

HeadOutputs controller_heads_by_operations(const at::Tensor& x, const at::Tensor& latents,
                                           const HeadParameters& parameters,
                                           const HeadScales& scales) {
  HeadOutputs out;
  out.commands = at::linear(x, parameters.command_weight, parameters.command_bias);
  const at::Tensor commanded = out.commands.narrow(1, 1, out.commands.size(1) - 1);
  const at::Tensor odds = at::logsumexp(commanded, 1) - out.commands.select(1, 0);
  out.score = scales.importance * (at::linear(x, parameters.importance_weight).squeeze(1) + odds);
  if (latents.defined()) {
    out.score =
        out.score + scales.impact * at::linear(latents, parameters.impact_weight).squeeze(1);
  }
  return out;
}

HeadOutputs controller_heads(const at::Tensor& x, const at::Tensor& latents,
                             const HeadParameters& parameters, const HeadScales& scales) {
  if (!x.is_cpu() || x.scalar_type() != at::kFloat) {
    return controller_heads_by_operations(x, latents, parameters, scales);
  }
  if (!at::GradMode::is_enabled()) return run_heads(x, latents, parameters, scales);
  const variable_list impact =
      latents.defined() ? variable_list{parameters.impact_weight} : variable_list{};
  const variable_list out = HeadsNode::apply(x, parameters.command_weight, parameters.command_bias,
                                             parameters.importance_weight, at::TensorList(impact),
                                             HeadConstants{.latents = latents, .scales = scales});
  return {.commands = out[0], .score = out[1]};
}

}  // namespace traffic::model
