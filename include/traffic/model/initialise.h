/// initialise(), which sets the initial weights of all networks of this module. The weights depend
/// only on the seed and the names of the parameters.
#pragma once

#include <torch/nn/module.h>

#include <cstdint>

namespace traffic::model {

/// Fills every parameter of a module. As in PyTorch, the weights of linear layers and convolutions
/// become uniform in +-1/sqrt(fan_in), those of LSTMs in +-1/sqrt(hidden). LayerNorms become the
/// identity. Each parameter has its own random sequence, derived from the seed and its name, so
/// neither the number of threads nor other parameters affect it. The module must already be owned
/// by a shared_ptr, so constructors cannot call this function.
void initialise(torch::nn::Module& module, std::uint64_t seed);

}  // namespace traffic::model
