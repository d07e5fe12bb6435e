/// Selects rows of tensors on the CPU faster than index_select does. This matters because an update
/// takes hundreds of minibatches from a dozen small tensors.
#pragma once

#include <torch/types.h>

namespace traffic::train {

/// Same as x.index_select(0, rows), for contiguous x on the CPU.
/// @param rows [n] int64, contiguous, on the CPU
/// @throws Error if a row is outside x or a tensor does not meet these requirements
torch::Tensor gather(const torch::Tensor& x, const torch::Tensor& rows);

}  // namespace traffic::train
