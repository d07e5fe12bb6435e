// Implements AttentionKernels with CUDA.
#include "attention_kernels.h"
#include "attention_source.h"
#include "cuda_program.h"

namespace traffic::model::device {
namespace {

constexpr std::int64_t kWarp = 32;

class CudaAttentionKernels final : public AttentionKernels {
 public:
  explicit CudaAttentionKernels(c10::Device device)
      : program_(kAttentionSource, "attention_kernels.cuh", device) {}

  void forward(const ForwardArguments& arguments) const override { launch(forward_, arguments); }
  void backward_destination(const DestinationArguments& arguments) const override {
    launch(destination_, arguments);
  }
  void backward_source(const SourceArguments& arguments) const override {
    launch(source_, arguments);
  }

 private:
  /// Launches one warp for each (node, head).
  template <typename Arguments>
  void launch(cudaKernel_t kernel, const Arguments& arguments) const {
    program_.launch(kernel, kWarp * arguments.in.nodes * arguments.in.heads, arguments);
  }

  CudaProgram program_;
  cudaKernel_t forward_ = program_.kernel("attention_forward");
  cudaKernel_t destination_ = program_.kernel("attention_backward_destination");
  cudaKernel_t source_ = program_.kernel("attention_backward_source");
};

}  // namespace

const AttentionKernels& attention_kernels_of(c10::Device device) {
  // Never destroyed: at the end of the process the driver may already be gone.
  static const auto* kernels = new CudaAttentionKernels(device);
  return *kernels;
}

}  // namespace traffic::model::device
