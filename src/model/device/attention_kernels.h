/// AttentionKernels: the interface through which the CPU launches the kernels of
/// attention_kernels.cuh, which compute attention on GPUs.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

namespace traffic::model::device {

/// Same layout and meaning as in attention_kernels.cuh; pointers refer to device memory.
struct AttentionEdges {
  const std::int32_t* edge_ptr;
  const std::int32_t* edge_src;
  const float* edge_features;
  const float* qkv;
  const float* edge_weight;
  std::int32_t nodes;
  std::int32_t heads;
  std::int32_t head_dim;
  float scale;
};
struct ForwardArguments {
  AttentionEdges in;
  const float* risk_in_weight;
  const float* risk_in_bias;
  const float* risk_out_weight;
  const float* risk_out_bias;
  float* out;
  float* probability;
};
struct DestinationArguments {
  AttentionEdges in;
  const float* grad_out;
  const float* probability;
  float* grad_qkv;
  float* grad_score;
  float* score_features;
  float* value_features;
};
struct SourceArguments {
  AttentionEdges in;
  const std::int32_t* out_ptr;
  const std::int32_t* out_edge;
  const std::int32_t* edge_dst;
  const float* grad_out;
  const float* probability;
  const float* grad_score;
  float* grad_qkv;
};

/// Maximum number of channels of a head.
inline constexpr std::int64_t kMaxHeadDim = 128;

/// Runs the kernels on a device, in its current stream.
class AttentionKernels {
 public:
  AttentionKernels() = default;
  virtual ~AttentionKernels() = default;
  AttentionKernels(const AttentionKernels&) = delete;
  AttentionKernels& operator=(const AttentionKernels&) = delete;

  virtual void forward(const ForwardArguments& arguments) const = 0;
  virtual void backward_destination(const DestinationArguments& arguments) const = 0;
  virtual void backward_source(const SourceArguments& arguments) const = 0;
};

/// Compiles the kernels for the device in the first call; all GPUs of a process must be of one
/// kind.
/// @throws ResourceError if they cannot be compiled or loaded, and in a program without CUDA
const AttentionKernels& attention_kernels_of(c10::Device device);

}  // namespace traffic::model::device
