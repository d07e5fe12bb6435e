// A perceptron with tanh layers: as one node of the autograd graph, and in ATen operations.
#include "perceptron.h"

#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>

#include "dense_products.h"
#include "traffic/core/error.h"

namespace traffic::model {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Which members of PerceptronParameters are defined. Autograd gets the tensors as one list,
/// without names.
struct Shape {
  bool has_rows = false;
  bool has_shared = false;
  std::size_t hidden = 0;  ///< number of layers after the first one
};

/// Lists weights and biases in the order of PerceptronParameters, which run_layers() expects.
variable_list flatten(const PerceptronParameters& parameters, const Shape& shape) {
  variable_list all;
  const auto add = [&](const DenseParameters& layer) {
    all.push_back(layer.weight);
    all.push_back(layer.bias);
  };
  if (shape.has_rows) add(parameters.rows);
  if (shape.has_shared) add(parameters.shared);
  for (const auto& layer : parameters.hidden) add(layer);
  return all;
}

/// @return the output of each layer
variable_list run_layers(const PerceptronInput& input, const Shape& shape,
                         at::TensorList parameters) {
  std::size_t at = 0;
  at::Tensor x;
  if (shape.has_rows) {
    x = dense(input.rows, parameters[at], parameters[at + 1]);
    at += 2;
  }
  if (shape.has_shared) {
    const at::Tensor common = dense(input.shared, parameters[at], parameters[at + 1]);
    at += 2;
    if (!x.defined()) x = at::zeros({input.group.size(0), common.size(1)}, common.options());
    add_shared(x, common, input.group);
  }
  variable_list outputs{tanh_in_place(x)};
  for (std::size_t i = 0; i < shape.hidden; ++i, at += 2) {
    outputs.push_back(tanh_in_place(dense(outputs.back(), parameters[at], parameters[at + 1])));
  }
  return outputs;
}

/// The perceptron as one node of the autograd graph.
struct PerceptronNode : torch::autograd::Function<PerceptronNode> {
  static at::Tensor forward(AutogradContext* context, const PerceptronInput& input,
                            const Shape& shape, at::TensorList parameters) {
    variable_list saved = parameters.vec();
    if (shape.has_rows) saved.push_back(input.rows);
    if (shape.has_shared) {
      saved.push_back(input.shared);
      saved.push_back(input.group);
    }
    const variable_list outputs = run_layers(input, shape, parameters);
    saved.insert(saved.end(), outputs.begin(), outputs.end());
    context->save_for_backward(std::move(saved));
    context->saved_data["has_rows"] = shape.has_rows;
    context->saved_data["has_shared"] = shape.has_shared;
    return outputs.back();
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const bool has_rows = context->saved_data["has_rows"].toBool();
    const bool has_shared = context->saved_data["has_shared"].toBool();
    const variable_list saved = context->get_saved_variables();
    const std::size_t first = (has_rows ? 1 : 0) + (has_shared ? 2 : 0);
    // The saved list has two parameters for each layer (for the first layer two for each of its
    // inputs), then the `first` saved inputs, then the output of each layer.
    const std::size_t parts = (has_rows ? 1U : 0U) + (has_shared ? 1U : 0U);
    const std::size_t hidden = (saved.size() - 2 * parts - first - 1) / 3;
    const std::size_t parameters = 2 * (parts + hidden);
    const auto output = [&](std::size_t layer) { return saved[parameters + first + layer]; };

    variable_list out(2 + parameters);  // no gradients for input and shape
    at::Tensor grad = through_tanh(grads[0].contiguous(), output(hidden));
    for (std::size_t layer = hidden; layer > 0; --layer) {
      const std::size_t at = 2 * (parts + layer - 1);
      out[2 + at] = product_of_transposed(grad, output(layer - 1));
      out[2 + at + 1] = sum_rows(grad);
      grad = through_tanh(product(grad, saved[at]), output(layer - 1));
    }
    std::size_t at = 2;
    const at::Tensor grad_bias = sum_rows(grad);  // both biases of the first layer get this
                                                  // gradient
    if (has_rows) {
      out[at++] = product_of_transposed(grad, saved[parameters]);
      out[at++] = grad_bias;
    }
    if (has_shared) {
      const at::Tensor& shared = saved[parameters + (has_rows ? 1 : 0)];
      const at::Tensor& group = saved[parameters + (has_rows ? 2 : 1)];
      out[at++] = product_of_transposed(sum_groups(grad, group, shared.size(0)), shared);
      out[at++] = grad_bias;
    }
    return out;
  }
};

bool is_cpu_float(const at::Tensor& x) {
  return !x.defined() || (x.is_cpu() && x.scalar_type() == at::kFloat);
}

}  // namespace

DenseParameters parameters_of(const torch::nn::Linear& layer) {
  return {.weight = layer->weight, .bias = layer->bias};
}

std::vector<DenseParameters> parameters_of(const std::vector<torch::nn::Linear>& layers) {
  std::vector<DenseParameters> all;
  for (const auto& layer : layers) all.push_back(parameters_of(layer));
  return all;
}

at::Tensor perceptron_by_operations(const PerceptronInput& input,
                                    const PerceptronParameters& parameters) {
  at::Tensor x;
  if (input.rows.defined()) {
    x = at::linear(input.rows, parameters.rows.weight, parameters.rows.bias);
  }
  if (input.shared.defined()) {
    const at::Tensor common =
        at::linear(input.shared, parameters.shared.weight, parameters.shared.bias)
            .index_select(0, input.group);
    x = x.defined() ? x + common : common;
  }
  x = x.tanh();
  for (const auto& layer : parameters.hidden) x = at::linear(x, layer.weight, layer.bias).tanh();
  return x;
}

at::Tensor perceptron(const PerceptronInput& input, const PerceptronParameters& parameters) {
  TRAFFIC_CHECK(input.rows.defined() || input.shared.defined(),
                "a perceptron needs rows or a shared input");
  if (!is_cpu_float(input.rows) || !is_cpu_float(input.shared)) {
    return perceptron_by_operations(input, parameters);
  }
  const Shape shape{.has_rows = input.rows.defined(),
                    .has_shared = input.shared.defined(),
                    .hidden = parameters.hidden.size()};
  const variable_list all = flatten(parameters, shape);
  if (!at::GradMode::is_enabled()) return run_layers(input, shape, all).back();
  return PerceptronNode::apply(input, shape, at::TensorList(all));
}

at::Tensor perceptron(const at::Tensor& rows, const std::vector<torch::nn::Linear>& layers) {
  std::vector<DenseParameters> all = parameters_of(layers);
  PerceptronParameters parameters{.rows = all.front()};
  parameters.hidden.assign(all.begin() + 1, all.end());
  return perceptron({.rows = rows}, parameters);
}

}  // namespace traffic::model
