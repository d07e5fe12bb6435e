/// Minibatches padded to fixed shapes are those without padding.
#include "train/graphed_minibatch.h"

#include <gtest/gtest.h>

#include "graphed_fixture.h"

namespace traffic::train {
namespace {

using namespace testing;  // NOLINT: the helpers beside this file

class APaddedMinibatch : public ::testing::TestWithParam<ActionKind> {};

TEST_P(APaddedMinibatch, HasTheGradientsAndSumsOfTheUnpaddedOne) {
  const config::Config config = config_of(GetParam());
  const Lesson lesson(config);
  Pupil pupil(config);
  Pupil reference(config);
  GraphedMinibatch graphed(pupil.policy, kCoefficients, make_recorder(torch::kCPU));
  graphed.reserve(lesson.experience, lesson.parts());
  for (const torch::Tensor& states : lesson.parts()) {
    SCOPED_TRACE(states.numel());
    const Outcome actual = padded(pupil, graphed, lesson, states);
    const Outcome expected = unpadded(reference, lesson, states);
    expect_same(actual, expected);
    // Counts are no matter of rounding.
    for (const auto count : {rl::kDecisions, rl::kSelections, rl::kValues, rl::kClippedDecisions,
                             rl::kClippedSelections}) {
      EXPECT_EQ(actual.sums[count].item<double>(), expected.sums[count].item<double>());
    }
    EXPECT_EQ(expected.gradients.abs().max().item<double>() > 0.0, states.numel() > 0);
  }
}
INSTANTIATE_TEST_SUITE_P(Actions, APaddedMinibatch,
                         ::testing::Values(ActionKind{"categorical", false},
                                           ActionKind{"categorical", true},
                                           ActionKind{"acceleration", false},
                                           ActionKind{"acceleration", true},
                                           ActionKind{"target_speed", true}));

/// Where everything lies that a recording would read and write.
std::vector<const void*> addresses(const GraphedMinibatch& graphed, const Pupil& pupil) {
  const MinibatchTensors& in = graphed.minibatch().tensors();
  std::vector<const void*> all;
  for (const auto& tensor : {in.own, in.shared, in.candidate_ptr, in.candidate_state, in.picks,
                             in.row, in.action, in.lane, in.decision_counts, in.old_log_prob,
                             in.advantages, in.selection_decides, in.old_selection, in.selection,
                             in.conflict, in.exists, in.old_values, in.returns, in.denominators}) {
    all.push_back(tensor.const_data_ptr());
  }
  for (const auto& [name, parameter] : pupil.policy.parameters()) {
    all.push_back(parameter.const_data_ptr());
    all.push_back(parameter.grad().const_data_ptr());
  }
  return all;
}

TEST(GraphedMinibatch, LeavesAllTensorsWhereTheyAreBetweenMinibatchesOfAnySize) {
  const config::Config config = config_of({"categorical", true});
  const Lesson lesson(config);
  Pupil pupil(config);
  GraphedMinibatch graphed(pupil.policy, kCoefficients, make_recorder(torch::kCPU));
  const auto parts = lesson.parts();
  graphed.reserve(lesson.experience, parts);
  const auto before = addresses(graphed, pupil);
  for (const torch::Tensor& states : parts) {
    padded(pupil, graphed, lesson, states);
    graphed.reserve(lesson.experience, {states});
    EXPECT_EQ(addresses(graphed, pupil), before);
    pupil.gradients.check_views();
  }
  EXPECT_TRUE(graphed.has_recording());
}

TEST(GraphedMinibatch, IsRecordedAnewForALargerMinibatchOnlyAndThenHasRoomToSpare) {
  const config::Config config = config_of({"categorical", false});
  const Lesson lesson(config);
  Pupil pupil(config);
  GraphedMinibatch graphed(pupil.policy, kCoefficients, make_recorder(torch::kCPU));
  const auto of_first = [](std::int64_t n) { return torch::arange(n); };
  graphed.reserve(lesson.experience, {of_first(24)});
  for (int i = 0; i <= GraphedStep::kWarmUps; ++i) padded(pupil, graphed, lesson, of_first(24));
  ASSERT_TRUE(graphed.has_recording());
  graphed.reserve(lesson.experience, {of_first(25), of_first(2)});
  EXPECT_TRUE(graphed.has_recording());

  const MinibatchSize before = graphed.minibatch().capacity();
  graphed.reserve(lesson.experience, {of_first(60)});
  EXPECT_FALSE(graphed.has_recording());
  EXPECT_TRUE(graphed.minibatch().capacity().holds(before));
  Pupil reference(config);
  EXPECT_LT(difference(padded(pupil, graphed, lesson, of_first(60)).gradients,
                       unpadded(reference, lesson, of_first(60)).gradients),
            kSumTolerance);
}

TEST(GraphedMinibatch, RefusesAMinibatchThatItHasNoRoomFor) {
  const config::Config config = config_of({"categorical", false});
  const Lesson lesson(config);
  Pupil pupil(config);
  GraphedMinibatch graphed(pupil.policy, kCoefficients, make_recorder(torch::kCPU));
  graphed.reserve(lesson.experience, {torch::arange(2)});
  EXPECT_THROW(padded(pupil, graphed, lesson, torch::arange(60)), Error);
}

}  // namespace
}  // namespace traffic::train
