/// CUDA kernels on the CPU: their source is compiled as C++, and the 32 lanes of a warp are fibers
/// that take turns at every exchange between lanes.
#pragma once

#include "model/device/attention_kernels.h"
#include "model/device/lstm_kernels.h"

namespace traffic::model::testing {

/// Slow; only for small graphs.
class EmulatedAttention final : public device::AttentionKernels {
 public:
  void forward(const device::ForwardArguments& arguments) const override;
  void backward_destination(const device::DestinationArguments& arguments) const override;
  void backward_source(const device::SourceArguments& arguments) const override;
};

/// Slow; only for few rows.
class EmulatedLstm final : public device::LstmKernels {
 public:
  void cell(const device::CellArguments& arguments) const override;
  void cell_gradient(const device::CellGradientArguments& arguments) const override;
};

}  // namespace traffic::model::testing
