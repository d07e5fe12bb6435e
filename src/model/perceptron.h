/// A perceptron: layers y = tanh(x W^T + b). On the CPU it is one node of the autograd graph.
/// Policies are small, so recording each operation for autograd would take longer than the
/// arithmetic.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/linear.h>

#include <vector>

namespace traffic::model {

/// Inputs of the first layer: a row for each of M items, and a row that all items of a group share.
/// Either `rows` or `shared` may be undefined. They get no gradients.
struct PerceptronInput {
  at::Tensor rows = {};    ///< [M, in]
  at::Tensor shared = {};  ///< [S, shared in]
  at::Tensor group = {};   ///< [M] int64: row in `shared` of each item, not decreasing
};

/// Weight [out, in] and bias [out].
struct DenseParameters {
  at::Tensor weight;
  at::Tensor bias;
};

DenseParameters parameters_of(const torch::nn::Linear& layer);
std::vector<DenseParameters> parameters_of(const std::vector<torch::nn::Linear>& layers);

/// Parameters of all layers. The first layer adds the products for its two inputs.
struct PerceptronParameters {
  DenseParameters rows = {};                 ///< first layer, for PerceptronInput::rows
  DenseParameters shared = {};               ///< first layer, for PerceptronInput::shared
  std::vector<DenseParameters> hidden = {};  ///< the layers after the first one, in order
};

/// @return [M, out of the last layer]
at::Tensor perceptron(const PerceptronInput& input, const PerceptronParameters& parameters);

/// The same for an input without shared rows.
/// @param layers all layers, from the first on
at::Tensor perceptron(const at::Tensor& rows, const std::vector<torch::nn::Linear>& layers);

/// Computes the same with ATen operations, on any device and in any number format.
at::Tensor perceptron_by_operations(const PerceptronInput& input,
                                    const PerceptronParameters& parameters);

}  // namespace traffic::model
