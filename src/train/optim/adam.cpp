#include "optim/adam.h"

#include <ATen/ATen.h>

#include <cmath>
#include <utility>

#include "optim/adam_update.h"
#include "traffic/core/error.h"
#include "traffic/core/vectorised.h"

namespace traffic::train {
namespace {

/// One Adam update of all parameters on the CPU, in a single loop.
TRAFFIC_VECTORISED void update_cpu(float* __restrict parameter, const float* __restrict gradient,
                                   float* __restrict exp_avg, float* __restrict exp_avg_sq,
                                   std::int64_t size, const AdamCoefficients& coefficients) {
  const AdamCoefficients c = coefficients;
  for (std::int64_t i = 0; i < size; ++i) {
    const float g = gradient[i] * c.gradient_scale + c.weight_decay * parameter[i];
    const float m = c.beta1 * exp_avg[i] + (1.0F - c.beta1) * g;
    const float v = c.beta2 * exp_avg_sq[i] + (1.0F - c.beta2) * g * g;
    exp_avg[i] = m;
    exp_avg_sq[i] = v;
    parameter[i] -= c.step_size * m / (std::sqrt(v) * c.second_moment + c.eps);
  }
}

void check_flat(const at::Tensor& tensor, const char* what) {
  if (tensor.dim() != 1 || tensor.scalar_type() != at::kFloat || !tensor.is_contiguous()) {
    throw ShapeError(
        "Adam: {} must be a contiguous float32 tensor with one dimension; found {} dimensions, {}, "
        "{}contiguous",
        what, tensor.dim(), at::toString(tensor.scalar_type()),
        tensor.is_contiguous() ? "" : "not ");
  }
}

}  // namespace

void adam_by_operations(const at::Tensor& parameters, const at::Tensor& gradients,
                        const at::Tensor& exp_avg, const at::Tensor& exp_avg_sq,
                        const AdamCoefficients& c) {
  const at::Tensor g = at::add(gradients * c.gradient_scale, parameters, c.weight_decay);
  exp_avg.mul_(c.beta1).add_(g, 1.0F - c.beta1);
  exp_avg_sq.mul_(c.beta2).addcmul_(g, g, 1.0F - c.beta2);
  parameters.addcdiv_(exp_avg, exp_avg_sq.sqrt().mul_(c.second_moment).add_(c.eps), -c.step_size);
}

Adam::Adam(at::Tensor parameters, AdamOptions options)
    : parameters_(std::move(parameters)), options_(options) {
  check_flat(parameters_, "the parameters");
  exp_avg_ = at::zeros_like(parameters_);
  exp_avg_sq_ = at::zeros_like(parameters_);
}

void Adam::step(const at::Tensor& gradients, double learning_rate, double gradient_scale) {
  check_flat(gradients, "the gradients");
  if (gradients.numel() != parameters_.numel() || gradients.device() != parameters_.device()) {
    throw ShapeError(
        "Adam: found {} gradients on {} for {} parameters on {}; number and device must be equal",
        gradients.numel(), gradients.device().str(), parameters_.numel(),
        parameters_.device().str());
  }
  const at::NoGradGuard no_grad;
  ++num_steps_;
  const auto t = static_cast<double>(num_steps_);
  const AdamCoefficients c{
      .gradient_scale = static_cast<float>(gradient_scale),
      .weight_decay = static_cast<float>(options_.weight_decay),
      .beta1 = static_cast<float>(options_.beta1),
      .beta2 = static_cast<float>(options_.beta2),
      .step_size = static_cast<float>(learning_rate / (1.0 - std::pow(options_.beta1, t))),
      .second_moment = static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(options_.beta2, t))),
      .eps = static_cast<float>(options_.eps)};
  if (parameters_.is_cpu()) {
    update_cpu(parameters_.mutable_data_ptr<float>(), gradients.const_data_ptr<float>(),
               exp_avg_.mutable_data_ptr<float>(), exp_avg_sq_.mutable_data_ptr<float>(),
               parameters_.numel(), c);
  } else {
    adam_by_operations(parameters_, gradients, exp_avg_, exp_avg_sq_, c);
  }
}

void Adam::restore(const at::Tensor& exp_avg, const at::Tensor& exp_avg_sq,
                   std::int64_t num_steps) {
  if (exp_avg.numel() != parameters_.numel() || exp_avg_sq.numel() != parameters_.numel()) {
    throw ShapeError(
        "Adam: the saved moments have {} and {} values, expected {}, the number of parameters",
        exp_avg.numel(), exp_avg_sq.numel(), parameters_.numel());
  }
  exp_avg_.copy_(exp_avg.view({-1}));
  exp_avg_sq_.copy_(exp_avg_sq.view({-1}));
  num_steps_ = num_steps;
}

}  // namespace traffic::train
