/// Requires the wheels with CUDA, but no GPU.
#include "model/device/nvrtc_program.h"

#include <gmock/gmock.h>

#include "attention_source.h"
#include "lstm_source.h"
#include "traffic/core/error.h"

namespace traffic::model::device {
namespace {

class CompilesTheKernels : public ::testing::TestWithParam<int> {
 protected:
  static void expect_compiled(const char* source, std::initializer_list<const char*> kernels) {
    const std::vector<char> code = compile_cuda(source, "kernels", GetParam());
    EXPECT_THAT(std::string(code.data() + 1, 3), "ELF");
    const std::string text(code.begin(), code.end());
    for (const char* kernel : kernels) {
      EXPECT_NE(text.find(kernel), std::string::npos) << kernel;
    }
  }
};

TEST_P(CompilesTheKernels, OfAttentionToMachineCode) {
  expect_compiled(kAttentionSource, {"attention_forward", "attention_backward_destination",
                                     "attention_backward_source"});
}
TEST_P(CompilesTheKernels, OfTheLstmToMachineCode) {
  expect_compiled(kLstmSource, {"lstm_cell", "lstm_cell_gradient"});
}
// RTX 2080 Ti, A100, RTX 4090, H100.
INSTANTIATE_TEST_SUITE_P(Gpus, CompilesTheKernels, ::testing::Values(75, 80, 89, 90));

TEST(Nvrtc, TranslatesForAnUnknownArchitecture) {
  const std::vector<char> code = compile_cuda(kAttentionSource, "attention", 93);
  EXPECT_THAT(std::string(code.begin(), code.end()), ::testing::HasSubstr(".target sm_90"));
}

TEST(Nvrtc, ReportsTheErrorsOfASource) {
  EXPECT_THROW(
      {
        try {
          compile_cuda("__global__ void f() { nonsense; }", "f.cu", 75);
        } catch (const ResourceError& error) {
          EXPECT_THAT(error.what(), ::testing::HasSubstr("identifier \"nonsense\" is undefined"));
          throw;
        }
      },
      ResourceError);
}

TEST(Nvrtc, RefusesAGpuThatIsTooOld) {
  EXPECT_THROW(compile_cuda(kAttentionSource, "attention", 30), ResourceError);
}

}  // namespace
}  // namespace traffic::model::device
