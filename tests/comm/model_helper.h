/// A model for tests of arenas and reducers.
#pragma once

#include <torch/nn.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>
#include <torch/utils.h>

#include "traffic/comm/flat_arena.h"

namespace traffic::comm {

/// A network with 7 inputs, 13 hidden units and 3 outputs. It is the same on every rank, and none
/// of its sizes is a multiple of the arena's alignment.
inline torch::nn::Sequential small_model() {
  torch::manual_seed(3);
  return torch::nn::Sequential(torch::nn::Linear(7, 13), torch::nn::Tanh(),
                               torch::nn::Linear(13, 3));
}

inline NamedTensors named_parameters(const torch::nn::Sequential& model) {
  NamedTensors parameters;
  for (const auto& item : model->named_parameters()) {
    parameters.emplace_back(item.key(), item.value());
  }
  return parameters;
}

}  // namespace traffic::comm
