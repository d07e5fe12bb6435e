/// CudaProgram compiles CUDA C++ for the GPU of the machine at run time, loads it into the GPU and
/// launches its kernels.
#pragma once

#include <c10/core/Device.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

namespace traffic::model::device {

class CudaProgram {
 public:
  /// @param source CUDA C++
  /// @param name name of the source, for messages
  /// @throws ResourceError if it cannot be compiled, c10::Error if it cannot be loaded
  CudaProgram(const char* source, const char* name, c10::Device device);

  /// Finds a kernel by its name in the source.
  [[nodiscard]] cudaKernel_t kernel(const char* name) const;

  /// Launches a kernel in the current stream of the device.
  /// @param threads minimum number of threads; with 0 nothing is launched
  template <typename Arguments>
  void launch(cudaKernel_t kernel, std::int64_t threads, Arguments arguments) const {
    launch_with(kernel, threads, &arguments);
  }

 private:
  void launch_with(cudaKernel_t kernel, std::int64_t threads, void* arguments) const;

  c10::Device device_;
  std::vector<char> code_;  ///< the compiled code; must live as long as library_
  cudaLibrary_t library_ = nullptr;
};

}  // namespace traffic::model::device
