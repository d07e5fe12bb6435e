/// On a GPU: minibatches recorded as CUDA graphs beside the same operation by operation.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "graphed_fixture.h"
#include "train/gpu.h"
#include "train/phase2_learner.h"

namespace traffic::train {
namespace {

using namespace testing;  // NOLINT: the helpers beside this file

const torch::Device kGpu(torch::kCUDA, 0);

/// A wider one than the fixture's, as configs/phase2.toml has it.
config::Config full_config() {
  config::Config config = config_of({"categorical", true});
  config.controller.hidden_dim = 64;
  return config;
}

class ARecordedMinibatchOnGpu : public ::testing::TestWithParam<ActionKind> {};

TEST_P(ARecordedMinibatchOnGpu, HasTheGradientsAndSumsOfTheUnrecordedOne) {
  const config::Config config = config_of(GetParam());
  const Lesson lesson(config);
  Pupil pupil(config, kGpu);
  Pupil reference(config, kGpu);
  GraphedMinibatch graphed(pupil.policy, kCoefficients, make_recorder(kGpu));
  graphed.reserve(lesson.experience, lesson.parts());
  for (int pass = 0; pass < 2; ++pass) {
    for (const torch::Tensor& states : lesson.parts()) {
      SCOPED_TRACE(states.numel());
      expect_same(padded(pupil, graphed, lesson, states), unpadded(reference, lesson, states));
      pupil.gradients.check_views();
    }
  }
  EXPECT_TRUE(graphed.has_recording());
}
INSTANTIATE_TEST_SUITE_P(Actions, ARecordedMinibatchOnGpu,
                         ::testing::Values(ActionKind{"categorical", false},
                                           ActionKind{"categorical", true},
                                           ActionKind{"acceleration", false},
                                           ActionKind{"target_speed", true}));

TEST(RecordingOnGpu, FollowsParametersThatChangeAndMinibatchesThatGrow) {
  const config::Config config = full_config();
  const Lesson lesson(config, 8);
  Pupil pupil(config, kGpu);
  Pupil reference(config, kGpu);
  GraphedMinibatch graphed(pupil.policy, kCoefficients, make_recorder(kGpu));
  for (const std::int64_t size : {20, 30, 100}) {
    const torch::Tensor states = torch::arange(size);
    graphed.reserve(lesson.experience, {states});
    for (int step = 0; step < 8; ++step) {
      const torch::Tensor some = states.slice(0, step);
      const Outcome actual = padded(pupil, graphed, lesson, some);
      EXPECT_LT(difference(actual.gradients, unpadded(reference, lesson, some).gradients),
                kSumTolerance);
      for (Pupil* learner : {&pupil, &reference}) {
        learner->parameters.flat().sub_(actual.gradients.to(kGpu), 0.1);
      }
    }
    EXPECT_TRUE(graphed.has_recording());
  }
}

TEST(RecordingOnGpu, ALearnerLearnsWhatOneWithoutLearns) {
  config::Config config = full_config();
  config.ppo.num_epochs = 2;
  config.ppo.accumulation_steps = 2;
  test::AloneCommunicator alone(kGpu);
  Policy on_cpu(config, kWidthsWithImpact, torch::kCPU);
  const Experience experience = share(play_all(7, kConflicts, on_cpu, 5), 0, 1, kConflicts, 2);
  Policy policy(config, kWidthsWithImpact, kGpu);
  Policy other_policy(config, kWidthsWithImpact, kGpu);
  Learner recording(config, policy, alone, kConflicts);
  Learner other(config, other_policy, alone, kConflicts);
  recording.record_minibatches(make_recorder(kGpu));
  for (std::int64_t iteration = 0; iteration < 3; ++iteration) {
    const UpdateResult a = recording.update(experience, 7 * kLength, iteration);
    const UpdateResult b = other.update(experience, 7 * kLength, iteration);
    EXPECT_EQ(a.statistics.decisions, b.statistics.decisions);
    EXPECT_NEAR(a.statistics.approx_kl, b.statistics.approx_kl, 1e-4);
  }
  // Adam divides by the root of small squares: what rounding makes of a step is small beside the
  // step, which is the learning rate of 1e-2.
  EXPECT_LT((recording.parameters().flat() - other.parameters().flat()).abs().max().item<double>(),
            1e-3);
}

TEST(RecordingOnGpu, TakesNoMoreMemoryTheLongerItIsRepeated) {
  const config::Config config = full_config();
  const Lesson lesson(config);
  Pupil pupil(config, kGpu);
  GraphedMinibatch graphed(pupil.policy, kCoefficients, make_recorder(kGpu));
  const auto parts = lesson.parts();
  graphed.reserve(lesson.experience, parts);
  for (std::size_t i = 0; i <= GraphedStep::kWarmUps; ++i) padded(pupil, graphed, lesson, parts[i]);
  ASSERT_TRUE(graphed.has_recording());
  const GpuMemory before = gpu_memory(kGpu);
  for (std::size_t i = 0; i < 200; ++i) padded(pupil, graphed, lesson, parts[i % parts.size()]);
  const GpuMemory after = gpu_memory(kGpu);
  EXPECT_EQ(after.allocated, before.allocated);
  EXPECT_EQ(after.reserved, before.reserved);
}

TEST(RecordingOnGpu, AFailedOneLeavesTheGpuAsItWas) {
  torch::Tensor x = torch::ones({4}, kGpu);
  const torch::Tensor weight = torch::ones({4}, kGpu).requires_grad_();
  const auto add_one = [&] { x.add_(1.0); };
  const auto waits = [&] {
    (x * weight).sum().backward();
    x.add_(1.0);
    static_cast<void>(x.sum().item<float>());
  };
  GraphedStep failing(make_recorder(kGpu));
  for (int i = 0; i < 6; ++i) failing.run(waits);
  EXPECT_FALSE(failing.has_recording());
  EXPECT_EQ(x.sum().item<float>(), 4.0F * 7.0F);
  GraphedStep working(make_recorder(kGpu));
  for (int i = 0; i < 6; ++i) working.run(add_one);
  EXPECT_TRUE(working.has_recording());
  EXPECT_EQ(x.sum().item<float>(), 4.0F * 13.0F);
}

/// Prints how many minibatches are computed in a second.
template <typename Compute>
double rate_of(const char* what, const Compute& compute) {
  constexpr int kTimes = 200;
  for (int i = 0; i < 10; ++i) compute();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kTimes; ++i) compute();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  const double rate = kTimes / taken.count();
  std::printf("%s: %.0f minibatches/s\n", what, rate);
  return rate;
}

TEST(RecordingOnGpu, TellsHowFastItIs) {
  const config::Config config = full_config();
  const Lesson lesson(config, 8);
  Pupil pupil(config, kGpu);
  GraphedMinibatch graphed(pupil.policy, kCoefficients, make_recorder(kGpu));
  const torch::Tensor states = torch::arange(64);
  graphed.reserve(lesson.experience, {states});
  EXPECT_GT(rate_of("operation by operation", [&] { unpadded(pupil, lesson, states); }), 0.0);
  EXPECT_GT(rate_of("as a CUDA graph", [&] { padded(pupil, graphed, lesson, states); }), 0.0);
}

}  // namespace
}  // namespace traffic::train
