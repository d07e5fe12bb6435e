/// Initial weights that depend only on the seed and the names of the parameters.
#pragma once

#include <torch/nn/module.h>

#include <cstdint>

namespace traffic::model {

/// Fills every parameter of a module. Linear layers and convolutions become uniform in
/// +-1/sqrt(fan_in), LSTMs in +-1/sqrt(hidden), as in PyTorch; LayerNorms become the identity. Each
/// parameter has its own random sequence, derived from the seed and its name, so neither the number
/// of threads nor other parameters affect it.
void initialise(torch::nn::Module& module, std::uint64_t seed);

}  // namespace traffic::model
