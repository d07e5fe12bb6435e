/// Tests which device traffic_train chooses if it sees no GPU, in builds with and without CUDA.
#include "train_fixture.h"

namespace traffic::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class DeviceTest : public TrainTest {
 protected:
  [[nodiscard]] Outcome train(const std::string& run, const std::string& arguments) const {
    return run_program(
        command(2, run, "--set train.max_steps=2 " + arguments, "CUDA_VISIBLE_DEVICES= "));
  }
};

TEST_F(DeviceTest, CudaWithoutAGpuEndsBeforeWritingAndSaysWhatToDo) {
  const Outcome outcome = train("run", "--set run.device=cuda");
#ifdef TRAFFIC_CUDA
  EXPECT_EQ(outcome.exit_code, 8) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("found no GPU that can be used"),
                                    HasSubstr("each of the 2 ranks"), HasSubstr("nvidia-smi")));
#else
  EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("built without CUDA"));
#endif
  EXPECT_THAT(outcome.output, HasSubstr("run.device = \"cpu\""));
  EXPECT_FALSE(fs::exists(dir_ / "run"));
}

TEST_F(DeviceTest, AutoFallsBackToTheCpuAndSaysSo) {
  const Outcome outcome = train("run", "--set run.device=auto");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("device cpu (run.device = \"auto\": the CPU, because "));
}

TEST_F(DeviceTest, HalfPrecisionOnTheCpuIsRefused) {
  const Outcome outcome = train("run", "--set train.precision=fp16");
  EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("train.precision = \"fp16\""),
                                    HasSubstr("needs a GPU"), HasSubstr("\"bf16\"")));
}

TEST_F(DeviceTest, GradientsThatAreReducedDuringBackwardTrainToTheSameBits) {
  // The limit is so high that the gradient is not clipped. Clipping would use
  // the norm, which the reduction during the backward pass sums in another order.
  const std::string arguments = "--set train.clip_norm=1e6 --set comm.bucket_cap_mb=0.01 ";
  ASSERT_EQ(train("after", arguments).exit_code, 0);
  const Outcome outcome = train("during", arguments + "--set comm.overlap=on");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(summary("during")["parameters_xxh3"], summary("after")["parameters_xxh3"]);
}

TEST_F(DeviceTest, CheckpointedLayersTrainToTheSameBits) {
  ASSERT_EQ(train("kept", "").exit_code, 0);
  ASSERT_EQ(train("computed-again", "--set train.gradient_checkpointing=true").exit_code, 0);
  EXPECT_EQ(summary("computed-again")["parameters_xxh3"], summary("kept")["parameters_xxh3"]);
}

}  // namespace
}  // namespace traffic::test
