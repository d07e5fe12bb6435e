// A perceptron with ReLU layers: as one node of the autograd graph, and in ATen operations.
#include "traffic/model/mlp.h"

#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/utils.h>

#include <string>
#include <utility>

#include "dense_products.h"
#include "traffic/core/error.h"
#include "traffic/core/vectorised.h"

namespace traffic::model {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

TRAFFIC_VECTORISED void clip_negative(float* x, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) x[i] = x[i] > 0.0F ? x[i] : 0.0F;
}

TRAFFIC_VECTORISED void mask_gradient(float* __restrict grad, const float* __restrict y,
                                      std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) grad[i] = y[i] > 0.0F ? grad[i] : 0.0F;
}

/// Multiplies grad by the derivative of ReLU, whose output was y. grad may change in place, because
/// it is an intermediate result of this file.
void through_relu_in_place(const at::Tensor& grad, const at::Tensor& y) {
  mask_gradient(grad.mutable_data_ptr<float>(), y.const_data_ptr<float>(), y.numel());
}

/// Computes the network with the kernels for small matrices.
/// @param parameters weight and bias of each layer
/// @return the input of each layer, and the output of the last one
variable_list run_mlp(const at::Tensor& x, at::TensorList parameters) {
  variable_list values{x};
  for (std::size_t at = 0; at < parameters.size(); at += 2) {
    values.push_back(dense(values.back(), parameters[at], parameters[at + 1]));
    if (at + 2 < parameters.size()) {
      clip_negative(values.back().mutable_data_ptr<float>(), values.back().numel());
    }
  }
  return values;
}

/// The network as one node of the autograd graph.
struct MlpNode : torch::autograd::Function<MlpNode> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            at::TensorList parameters) {
    variable_list values = run_mlp(x, parameters);
    at::Tensor out = values.back();
    variable_list saved = parameters.vec();
    saved.insert(saved.end(), values.begin(), values.end() - 1);
    context->save_for_backward(std::move(saved));
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const variable_list saved = context->get_saved_variables();
    const std::size_t layers = saved.size() / 3;
    variable_list out(1 + 2 * layers);
    at::Tensor grad = grads[0].contiguous();
    for (std::size_t layer = layers; layer-- > 0;) {
      const at::Tensor& weight = saved[2 * layer];
      const at::Tensor& read = saved[2 * layers + layer];
      if (context->needs_input_grad(1 + 2 * layer)) {
        out[1 + 2 * layer] = product_of_transposed(grad, read);
        out[2 + 2 * layer] = sum_rows(grad);
      }
      if (layer == 0 && !context->needs_input_grad(0)) break;
      grad = product(grad, weight);
      if (layer > 0) through_relu_in_place(grad, read);
    }
    if (context->needs_input_grad(0)) out[0] = grad;
    return out;
  }
};

/// Computes the network with ATen operations.
at::Tensor run_operations(at::Tensor x, at::TensorList parameters) {
  for (std::size_t at = 0; at < parameters.size(); at += 2) {
    if (at > 0) x = at::relu(x);
    x = at::linear(x, parameters[at], parameters[at + 1]);
  }
  return x;
}

}  // namespace

MlpImpl::MlpImpl(const MlpShape& shape) : shape_(shape) {
  std::int64_t inputs = shape_.inputs;
  std::vector<std::int64_t> widths = shape_.hidden;
  widths.push_back(shape_.outputs);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    layers_.push_back(
        register_module("layer" + std::to_string(i), torch::nn::Linear(inputs, widths[i])));
    inputs = widths[i];
  }
}

torch::Tensor MlpImpl::run(const torch::Tensor& x, bool trains) {
  TRAFFIC_CHECK(x.dim() == 2 && x.size(1) == shape_.inputs, "x must be [B, {}]", shape_.inputs);
  variable_list parameters;
  for (const auto& layer : layers_) {
    parameters.push_back(trains ? layer->weight : layer->weight.detach());
    parameters.push_back(trains ? layer->bias : layer->bias.detach());
  }
  if (!x.is_cpu() || x.scalar_type() != at::kFloat) return run_operations(x, parameters);
  if (!at::GradMode::is_enabled()) return run_mlp(x.contiguous(), parameters).back();
  return MlpNode::apply(x.contiguous(), at::TensorList(parameters));
}

}  // namespace traffic::model
