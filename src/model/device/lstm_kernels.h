/// LstmKernels: the interface through which the CPU launches the kernels of lstm_kernels.cuh, which
/// compute the elementwise part of an LSTM step on GPUs.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

namespace traffic::model::device {

/// Same layout and meaning as in lstm_kernels.cuh; pointers refer to device memory.
struct CellArguments {
  float* gates;
  const float* recurrent;
  const float* previous_cell;
  const std::uint8_t* present;
  float* cell;
  float* output;
  std::int32_t rows;
  std::int32_t units;
};
struct CellGradientArguments {
  const float* gates;
  const float* cell;
  const float* previous_cell;
  const std::uint8_t* present;
  const float* grad_output;
  const float* grad_recurrent;
  float* grad_cell;
  float* grad_gates;
  std::int32_t rows;
  std::int32_t units;
};

/// Runs the kernels on a device, in its current stream.
class LstmKernels {
 public:
  LstmKernels() = default;
  virtual ~LstmKernels() = default;
  LstmKernels(const LstmKernels&) = delete;
  LstmKernels& operator=(const LstmKernels&) = delete;

  virtual void cell(const CellArguments& arguments) const = 0;
  virtual void cell_gradient(const CellGradientArguments& arguments) const = 0;
};

/// Compiles the kernels for the device in the first call; all GPUs of a process must be of one
/// kind.
/// @throws ResourceError if they cannot be compiled or loaded, and in a program without CUDA
const LstmKernels& lstm_kernels_of(c10::Device device);

}  // namespace traffic::model::device
