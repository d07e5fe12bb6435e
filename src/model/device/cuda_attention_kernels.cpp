#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <array>
#include <vector>

#include "attention_kernels.h"
#include "attention_source.h"
#include "nvrtc_program.h"

namespace traffic::model::device {
namespace {

constexpr unsigned kThreadsPerBlock = 128;
constexpr unsigned kWarp = 32;

int compute_capability_of(c10::Device device) {
  int major = 0;
  int minor = 0;
  C10_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device.index()));
  C10_CUDA_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device.index()));
  return 10 * major + minor;
}

class CudaAttentionKernels final : public AttentionKernels {
 public:
  explicit CudaAttentionKernels(c10::Device device)
      : device_(device),
        code_(compile_cuda(kAttentionSource, "attention_kernels.cuh",
                           compute_capability_of(device))) {
    const c10::cuda::CUDAGuard guard(device_);
    C10_CUDA_CHECK(
        cudaLibraryLoadData(&library_, code_.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    C10_CUDA_CHECK(cudaLibraryGetKernel(&forward_, library_, "attention_forward"));
    C10_CUDA_CHECK(cudaLibraryGetKernel(&destination_, library_, "attention_backward_destination"));
    C10_CUDA_CHECK(cudaLibraryGetKernel(&source_, library_, "attention_backward_source"));
  }

  void forward(const ForwardArguments& arguments) const override { launch(forward_, arguments); }
  void backward_destination(const DestinationArguments& arguments) const override {
    launch(destination_, arguments);
  }
  void backward_source(const SourceArguments& arguments) const override {
    launch(source_, arguments);
  }

 private:
  /// A warp for each (node, head).
  template <typename Arguments>
  void launch(cudaKernel_t kernel, Arguments arguments) const {
    const auto warps =
        static_cast<unsigned>(arguments.in.nodes) * static_cast<unsigned>(arguments.in.heads);
    if (warps == 0) return;
    constexpr unsigned kWarpsPerBlock = kThreadsPerBlock / kWarp;
    std::array<void*, 1> parameters{&arguments};
    const c10::cuda::CUDAGuard guard(device_);
    C10_CUDA_CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel),
                                    dim3((warps + kWarpsPerBlock - 1) / kWarpsPerBlock),
                                    dim3(kThreadsPerBlock), parameters.data(), 0,
                                    c10::cuda::getCurrentCUDAStream(device_.index())));
  }

  c10::Device device_;
  std::vector<char> code_;  ///< must live as long as the library
  cudaLibrary_t library_ = nullptr;
  cudaKernel_t forward_ = nullptr;
  cudaKernel_t destination_ = nullptr;
  cudaKernel_t source_ = nullptr;
};

}  // namespace

const AttentionKernels& attention_kernels_of(c10::Device device) {
  // Never destroyed: at the end of the process the driver may be gone already.
  static const auto* kernels = new CudaAttentionKernels(device);
  return *kernels;
}

}  // namespace traffic::model::device
