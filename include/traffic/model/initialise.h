/// Initial weights that depend on the seed and the parameters' names alone.
#pragma once

#include <torch/nn/module.h>

#include <cstdint>

namespace traffic::model {

/// Fills every parameter of a module: uniform in +-1/sqrt(fan_in) for linear layers,
/// +-1/sqrt(hidden) for LSTMs (as PyTorch does), LayerNorms the identity. Each parameter has a
/// random sequence of its own, derived from the seed and its name, so neither threads nor other
/// parameters matter.
void initialise(torch::nn::Module& module, std::uint64_t seed);

}  // namespace traffic::model
