/// Rows of tensors on the CPU by their numbers. Minibatches take a dozen small tensors apart
/// hundreds of times; copied row by row that is a fraction of calling index_select on each.
#pragma once

#include <torch/types.h>

namespace traffic::train {

/// x.index_select(0, rows) for contiguous x on the CPU.
/// @param rows [n] int64 on the CPU, within x (checked)
torch::Tensor gather(const torch::Tensor& x, const torch::Tensor& rows);

}  // namespace traffic::train
