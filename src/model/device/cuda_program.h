/// Kernels that are compiled for the GPU of the machine and loaded into it.
#pragma once

#include <c10/core/Device.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

namespace traffic::model::device {

class CudaProgram {
 public:
  /// @param name of the source, for messages
  /// @throws ResourceError if it cannot be compiled, c10::Error if it cannot be loaded
  CudaProgram(const char* source, const char* name, c10::Device device);

  [[nodiscard]] cudaKernel_t kernel(const char* name) const;

  /// Launches the kernel in the current stream of the device. @param threads minimum number of
  /// threads; 0: nothing is launched
  template <typename Arguments>
  void launch(cudaKernel_t kernel, std::int64_t threads, Arguments arguments) const {
    launch_with(kernel, threads, &arguments);
  }

 private:
  void launch_with(cudaKernel_t kernel, std::int64_t threads, void* arguments) const;

  c10::Device device_;
  std::vector<char> code_;  ///< must live as long as the library
  cudaLibrary_t library_ = nullptr;
};

}  // namespace traffic::model::device
