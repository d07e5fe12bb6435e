/// Layers y = tanh(x W^T + b) as one node of the autograd graph on the CPU: policies are small, and
/// recording each operation for autograd takes longer than the arithmetic.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/linear.h>

#include <vector>

namespace traffic::model {

/// Inputs of the first layer: one row per item, and a shared row per group of items. One of the two
/// may be undefined. Never differentiated.
struct PerceptronInput {
  at::Tensor rows = {};    ///< [M, in]
  at::Tensor shared = {};  ///< [S, shared in]
  at::Tensor group = {};   ///< [M] int64 in [0, S), not decreasing; required with `shared`
};

/// Weight [out, in] and bias [out].
struct DenseParameters {
  at::Tensor weight;
  at::Tensor bias;
};

DenseParameters parameters_of(const torch::nn::Linear& layer);
std::vector<DenseParameters> parameters_of(const std::vector<torch::nn::Linear>& layers);

struct PerceptronParameters {
  DenseParameters rows = {};    ///< of the first layer, if there are rows
  DenseParameters shared = {};  ///< of the first layer, added to its rows, if there is a shared
                                ///< input
  std::vector<DenseParameters> hidden = {};  ///< of the further layers
};

/// @return [M, out of the last layer]
at::Tensor perceptron(const PerceptronInput& input, const PerceptronParameters& parameters);

/// For an input of rows only. @param layers all layers, from the first on
at::Tensor perceptron(const at::Tensor& rows, const std::vector<torch::nn::Linear>& layers);

/// Computes the same with ATen operations, on any device and in any number format.
at::Tensor perceptron_by_operations(const PerceptronInput& input,
                                    const PerceptronParameters& parameters);

}  // namespace traffic::model
