#include "train/monitor/device_choice.h"

#include <gmock/gmock.h>

#include "traffic/core/error.h"

namespace traffic::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal_of(const DeviceSituation& situation, ExitCode code) {
  try {
    decide_device(situation);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  ADD_FAILURE() << "expected decide_device to refuse this situation";
  return {};
}

TEST(DecideDevice, AutoTakesTheGpuOfTheLocalRank) {
  const DeviceChoice choice = decide_device({.wish = "auto",
                                             .built_with_cuda = true,
                                             .num_gpus = 2,
                                             .ranks_on_node = 2,
                                             .local_rank = 1});
  EXPECT_EQ(choice.device, at::Device(at::kCUDA, 1));
  EXPECT_THAT(choice.reason, HasSubstr("GPU 1 of 2"));
}

TEST(DecideDevice, AutoFallsBackToTheCpuAndSaysWhy) {
  const DeviceChoice none = decide_device({.wish = "auto",
                                           .built_with_cuda = true,
                                           .why_no_gpus = "no CUDA-capable device is detected"});
  EXPECT_EQ(none.device, at::kCPU);
  EXPECT_THAT(none.reason, HasSubstr("no CUDA-capable device is detected"));
  const DeviceChoice unbuilt = decide_device({.wish = "auto", .built_with_cuda = false});
  EXPECT_EQ(unbuilt.device, at::kCPU);
  EXPECT_THAT(unbuilt.reason, HasSubstr("built without CUDA"));
}

TEST(DecideDevice, TheCpuIsTakenOnRequestEvenWithGpus) {
  EXPECT_EQ(decide_device({.wish = "cpu", .built_with_cuda = true, .num_gpus = 4}).device,
            at::kCPU);
}

TEST(DecideDevice, CudaWithoutAGpuIsAnErrorThatSaysWhatToDo) {
  const std::string text =
      refusal_of({.wish = "cuda",
                  .built_with_cuda = true,
                  .why_no_gpus = "CUDA driver version is insufficient for CUDA runtime version",
                  .ranks_on_node = 2,
                  .visible_gpus = "7"},
                 ExitCode::kResources);
  EXPECT_THAT(text, AllOf(HasSubstr("found no GPU"), HasSubstr("driver version is insufficient"),
                          HasSubstr("2 ranks"), HasSubstr("CUDA_VISIBLE_DEVICES (it is 7)"),
                          HasSubstr("run.device = \"cpu\"")));
}

TEST(DecideDevice, CudaInAProgramWithoutItIsAnErrorOfTheConfiguration) {
  EXPECT_THAT(refusal_of({.wish = "cuda", .built_with_cuda = false}, ExitCode::kConfig),
              HasSubstr("launch/build.sh cuda"));
}

TEST(DecideDevice, MoreRanksThanGpusIsAnErrorAlsoWithAuto) {
  for (const char* wish : {"auto", "cuda"}) {
    const std::string text = refusal_of(
        {.wish = wish, .built_with_cuda = true, .num_gpus = 2, .ranks_on_node = 3, .local_rank = 0},
        ExitCode::kResources);
    EXPECT_THAT(text, AllOf(HasSubstr("2 GPUs for 3 ranks"), HasSubstr("no more than 2 ranks")));
  }
}

TEST(DecideDevice, ARankThatIsShownOneGpuTakesIt) {
  const DeviceChoice choice = decide_device({.wish = "cuda",
                                             .built_with_cuda = true,
                                             .num_gpus = 1,
                                             .ranks_on_node = 2,
                                             .local_rank = 1,
                                             .visible_gpus = "1"});
  EXPECT_EQ(choice.device, at::Device(at::kCUDA, 0));
}

}  // namespace
}  // namespace traffic::train
