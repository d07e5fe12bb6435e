/// CUDA kernels on the CPU: the source of the kernels as C++, the 32 lanes of a warp as fibers that
/// take turns at every exchange between lanes.
#pragma once

#include "model/device/attention_kernels.h"

namespace traffic::model::testing {

/// Slow; for small graphs.
class EmulatedKernels final : public device::AttentionKernels {
 public:
  void forward(const device::ForwardArguments& arguments) const override;
  void backward_destination(const device::DestinationArguments& arguments) const override;
  void backward_source(const device::SourceArguments& arguments) const override;
};

}  // namespace traffic::model::testing
