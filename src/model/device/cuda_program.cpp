// Compiles CUDA C++ for a GPU, loads it into the GPU and launches its kernels.
#include "cuda_program.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <array>

#include "nvrtc_program.h"

namespace traffic::model::device {
namespace {

constexpr unsigned kThreadsPerBlock = 128;

int compute_capability_of(c10::Device device) {
  int major = 0;
  int minor = 0;
  C10_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device.index()));
  C10_CUDA_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device.index()));
  return 10 * major + minor;
}

}  // namespace

CudaProgram::CudaProgram(const char* source, const char* name, c10::Device device)
    : device_(device), code_(compile_cuda(source, name, compute_capability_of(device))) {
  const c10::cuda::CUDAGuard guard(device_);
  C10_CUDA_CHECK(
      cudaLibraryLoadData(&library_, code_.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
}

cudaKernel_t CudaProgram::kernel(const char* name) const {
  cudaKernel_t kernel = nullptr;
  C10_CUDA_CHECK(cudaLibraryGetKernel(&kernel, library_, name));
  return kernel;
}

void CudaProgram::launch_with(cudaKernel_t kernel, std::int64_t threads, void* arguments) const {
  const auto blocks = static_cast<unsigned>((threads + kThreadsPerBlock - 1) / kThreadsPerBlock);
  if (blocks == 0) return;
  std::array<void*, 1> parameters{arguments};
  const c10::cuda::CUDAGuard guard(device_);
  C10_CUDA_CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks),
                                  dim3(kThreadsPerBlock), parameters.data(), 0,
                                  c10::cuda::getCurrentCUDAStream(device_.index())));
}

}  // namespace traffic::model::device
