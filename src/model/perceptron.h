/// Layers y = tanh(x W^T + b), one after the other, as one node of the autograd graph on the CPU:
/// policies are small, and recording each operation for autograd takes longer than their
/// arithmetic.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/linear.h>

#include <vector>

namespace traffic::model {

/// What the first layer reads: rows of their own, and what the rows of a group have in common. One
/// of the two may be undefined. Never differentiated.
struct PerceptronInput {
  at::Tensor rows = {};    ///< [M, in]
  at::Tensor shared = {};  ///< [S, shared in]
  at::Tensor group = {};   ///< [M] int64 into [0, S), not falling; where `shared` is defined
};

/// Weight [out, in] and bias [out].
struct DenseParameters {
  at::Tensor weight;
  at::Tensor bias;
};

DenseParameters parameters_of(const torch::nn::Linear& layer);
std::vector<DenseParameters> parameters_of(const std::vector<torch::nn::Linear>& layers);

struct PerceptronParameters {
  DenseParameters rows = {};    ///< of the first layer; where there are rows
  DenseParameters shared = {};  ///< of the first layer, added to it; where something is shared
  std::vector<DenseParameters> hidden = {};  ///< of the layers behind it
};

/// @return [M, out of the last layer]
at::Tensor perceptron(const PerceptronInput& input, const PerceptronParameters& parameters);

/// Of rows alone. @param layers from the first on
at::Tensor perceptron(const at::Tensor& rows, const std::vector<torch::nn::Linear>& layers);

/// The same, operation by operation: on any device and in any number format.
at::Tensor perceptron_by_operations(const PerceptronInput& input,
                                    const PerceptronParameters& parameters);

}  // namespace traffic::model
