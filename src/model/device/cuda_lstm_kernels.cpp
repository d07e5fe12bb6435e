// Implements LstmKernels with CUDA.
#include "cuda_program.h"
#include "lstm_kernels.h"
#include "lstm_source.h"

namespace traffic::model::device {
namespace {

class CudaLstmKernels final : public LstmKernels {
 public:
  explicit CudaLstmKernels(c10::Device device)
      : program_(kLstmSource, "lstm_kernels.cuh", device) {}

  void cell(const CellArguments& arguments) const override { launch(cell_, arguments); }
  void cell_gradient(const CellGradientArguments& arguments) const override {
    launch(cell_gradient_, arguments);
  }

 private:
  /// Launches one thread for each unit of each row.
  template <typename Arguments>
  void launch(cudaKernel_t kernel, const Arguments& arguments) const {
    program_.launch(kernel, std::int64_t{arguments.rows} * arguments.units, arguments);
  }

  CudaProgram program_;
  cudaKernel_t cell_ = program_.kernel("lstm_cell");
  cudaKernel_t cell_gradient_ = program_.kernel("lstm_cell_gradient");
};

}  // namespace

const LstmKernels& lstm_kernels_of(c10::Device device) {
  // Never destroyed: at the end of the process the driver may already be gone.
  static const auto* kernels = new CudaLstmKernels(device);
  return *kernels;
}

}  // namespace traffic::model::device
