#include "train/rollouts/experience.h"

#include <gtest/gtest.h>

#include "traffic/core/error.h"
#include "train/policy/gather.h"
#include "train/rollouts/experience_fixture.h"

namespace traffic::train {
namespace {

using namespace testing;  // NOLINT: helpers of experience_fixture.h

Trajectory two_steps() {
  Trajectory trajectory;
  for (int t = 0; t < 2; ++t) {
    Step step;
    step.seen.own = torch::full({3 - t, kOwn}, 10.0 * t);
    step.seen.shared = torch::full({1, kShared}, 1.0 * t);
    step.seen.conflict = torch::zeros({1, kConflictWidth});
    step.made.place = t == 0 ? std::vector<std::int64_t>{2, 0} : std::vector<std::int64_t>{1};
    step.made.action.assign(step.made.place.size(), 1.0F);
    step.made.lane.assign(step.made.place.size(), 1);
    step.decision_conflict.assign(step.made.place.size(), 0);
    step.own_cost.assign(step.made.place.size(), 0.5F);
    step.reward = {t == 0 ? 1.0F : 2.0F};
    step.cost = {0.0F};
    trajectory.steps.push_back(std::move(step));
  }
  trajectory.final_conflict = torch::zeros({1, kConflictWidth});
  return trajectory;
}

TEST(Experience, AMinibatchHasTheCandidatesAndDecisionsOfItsStates) {
  const Experience all = pack({two_steps(), two_steps()}, {0, 2}, kWidths, 1, 2);
  ASSERT_EQ(all.num_states(), 4);
  EXPECT_EQ(all.own.size(0), 10);
  EXPECT_TRUE(torch::equal(all.decisions.row, torch::tensor({2, 0, 4, 7, 5, 9}, torch::kLong)));
  // Row 3 is the second step of the second trajectory, and row 0 the first step of the first one.
  const Minibatch part = take(all, torch::tensor({3, 0}, torch::kLong), torch::kCPU);
  EXPECT_EQ(part.input.own.size(0), 5);
  EXPECT_EQ(part.input.own[0][0].item<float>(), 10.0F);
  EXPECT_EQ(part.input.own[2][0].item<float>(), 0.0F);
  EXPECT_TRUE(torch::equal(part.decisions.row, torch::tensor({1, 4, 2}, torch::kLong)));
  EXPECT_TRUE(torch::equal(part.decision_of, torch::tensor({5, 0, 1}, torch::kLong)));
  EXPECT_TRUE(torch::equal(part.decisions.picks, torch::tensor({{1, -1}, {2, 0}}, torch::kLong)));
}

TEST(Experience, OnlyATrajectoryThatHasNotTerminatedBootstraps) {
  Trajectory terminated = two_steps();
  terminated.terminated = true;
  const Experience all = pack({terminated, two_steps()}, {0, 2}, kWidths, 1, 2);
  const torch::Tensor values = torch::tensor({{3.0F}, {4.0F}, {3.0F}, {4.0F}});
  const torch::Tensor ends = torch::tensor({{100.0F}, {10.0F}});
  // With gamma 0.5 and lambda 1 the advantages are A_1 = 2 + 0.5 * 10 - 4 (without 0.5 * 10 if the
  // trajectory has terminated) and A_0 = 1 + 0.5 * 4 - 3 + 0.5 * A_1.
  const torch::Tensor expected = torch::tensor({{-1.0F}, {-2.0F}, {1.5F}, {3.0F}});
  EXPECT_TRUE(torch::allclose(advantages_of(all, all.rewards, {values, ends}, 0.5, 1.0), expected));
}

TEST(Experience, OnlyTheFirstConflictsOfARoadWithFewerExist) {
  Trajectory trajectory = two_steps();
  for (Step& step : trajectory.steps) {
    step.seen.conflict = torch::zeros({3, kConflictWidth});
    step.reward = {1.0F, 2.0F, 0.0F};
    step.cost = {0.0F, 0.0F, 0.0F};
  }
  trajectory.final_conflict = torch::zeros({3, kConflictWidth});
  trajectory.steps[0].conflicts = 2;
  const Experience all = pack({trajectory}, {0}, kWidths, 3, 2);
  const auto expected = torch::tensor({1, 1, 0, 1, 1, 1}).view({2, 3}).to(torch::kBool);
  EXPECT_TRUE(torch::equal(all.exists, expected));
}

TEST(Experience, IsEmptyOnARankWithoutTrajectories) {
  const Experience none = pack({}, {}, kWidths, 2, 2);
  EXPECT_EQ(none.num_states(), 0);
  EXPECT_EQ(none.own.sizes(), (std::vector<std::int64_t>{0, kOwn}));
  const Minibatch part = take(none, torch::empty({0}, torch::kLong), torch::kCPU);
  EXPECT_EQ(part.decisions.row.numel(), 0);
}

TEST(Gather, EqualsIndexSelectForRowsOfAnyWidthAndType) {
  const torch::Tensor rows = torch::tensor({std::int64_t{3}, std::int64_t{0}, std::int64_t{3}});
  for (const torch::Tensor& x :
       {torch::randn({4}), torch::randn({4, 7}), torch::arange(4), torch::arange(8).view({4, 2}),
        torch::randn({4, 2, 3}), torch::randn({4, 3}) > 0.0, torch::randn({4}) > 0.0}) {
    EXPECT_TRUE(torch::equal(gather(x, rows), x.index_select(0, rows))) << x.sizes();
  }
  EXPECT_EQ(gather(torch::randn({0, 3}), rows.narrow(0, 0, 0)).sizes(), (torch::IntArrayRef{0, 3}));
  EXPECT_ANY_THROW(gather(torch::randn({3}), rows));
  EXPECT_ANY_THROW(gather(torch::randn({0, 3}), rows)) << "an empty tensor has no row to gather";
  EXPECT_ANY_THROW(gather(torch::randn({3, 0}), torch::tensor({3}, torch::kLong)));
  const torch::Tensor unaligned = torch::randn({9}).narrow(0, 1, 8).view({4, 2});
  const torch::Tensor some = torch::tensor({3, 0, 3}, torch::kLong);
  EXPECT_TRUE(torch::equal(gather(unaligned, some), unaligned.index_select(0, some)));
}

}  // namespace
}  // namespace traffic::train
