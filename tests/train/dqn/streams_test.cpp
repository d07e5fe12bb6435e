#include "train/dqn/streams.h"

#include <gtest/gtest.h>

#include "train/rollouts/experience_fixture.h"

namespace traffic::train::dqn {
namespace {

using train::testing::kWidths;
using train::testing::play;

constexpr std::int64_t kConflicts = 2;
constexpr std::int64_t kSteps = 12;

/// A rank with simulations 1 and 3. An episode of simulation 1 ends within the fragment.
class FragmentTest : public ::testing::Test {
 protected:
  FragmentTest() : policy_(train::testing::small_config(), kWidths, torch::kCPU) {
    trajectories_ = {play(0, kSteps, kConflicts, policy_, 5), play(1, 5, kConflicts, policy_, 5),
                     play(2, 7, kConflicts, policy_, 5)};
    trajectories_[0].terminated = false;  // its episode continues
    trajectories_[1].terminated = true;
    trajectories_[2].terminated = false;
  }
  [[nodiscard]] Experience packed() const {
    return pack(trajectories_, {3 * kSteps, 1 * kSteps, 1 * kSteps + 5}, kWidths, kConflicts,
                policy_.top_k());
  }

  Policy policy_;
  std::vector<Trajectory> trajectories_;
  const RowLayout layout_{.widths = kWidths, .places = 2};
  const std::vector<int> envs_{1, 3};
};

/// Copies of all steps that for_each() has passed to its callback.
struct PushedSteps {
  std::vector<std::vector<float>> rows, chosen, rewards;
  std::vector<std::vector<std::uint8_t>> ends;
};
PushedSteps all_of(FragmentStreams& streams, const Experience& experience) {
  PushedSteps all;
  streams.for_each(experience, kSteps, [&](const replay::Step& step) {
    all.rows.emplace_back(step.obs.begin(), step.obs.end());
    all.chosen.emplace_back(step.action_vectors.begin(), step.action_vectors.end());
    all.rewards.emplace_back(step.rewards.begin(), step.rewards.end());
    all.ends.emplace_back(step.ends.begin(), step.ends.end());
  });
  return all;
}

TEST_F(FragmentTest, EachConflictHasAStreamOfItsSimulationsStates) {
  FragmentStreams streams(layout_, envs_, kConflicts);
  EXPECT_EQ(streams.ids(), (std::vector<std::int64_t>{2, 3, 6, 7}));
  const PushedSteps all = all_of(streams, packed());
  ASSERT_EQ(all.rows.size(), kSteps);
  for (std::int64_t t = 0; t < kSteps; ++t) {
    for (std::int64_t stream = 0; stream < 4; ++stream) {
      const bool is_last_env = stream >= 2;
      const Step& step = is_last_env ? trajectories_[0].steps[t]
                         : t < 5     ? trajectories_[1].steps[t]
                                     : trajectories_[2].steps[t - 5];
      const std::int64_t conflict = stream % 2;
      const torch::Tensor row =
          torch::tensor(all.rows[t]).view({4, layout_.width()})[stream].unsqueeze(0);
      const Rows apart = take_apart(layout_, row);
      EXPECT_TRUE(torch::equal(apart.conflict[0], step.seen.conflict[conflict]));
      EXPECT_TRUE(torch::equal(apart.shared, step.seen.shared));
      std::vector<torch::Tensor> own;
      std::vector<float> chosen;
      float reward = step.reward[static_cast<std::size_t>(conflict)];
      for (std::size_t d = 0; d < step.made.size(); ++d) {
        if (step.decision_conflict[d] != conflict) continue;
        own.push_back(step.seen.own[step.made.place[d]]);
        chosen.push_back(step.made.action[d]);
        reward -= step.own_cost[d];
      }
      ASSERT_EQ(apart.own.size(0), std::ssize(own));
      for (std::size_t d = 0; d < own.size(); ++d) {
        EXPECT_TRUE(torch::equal(apart.own[static_cast<std::int64_t>(d)], own[d]));
        EXPECT_EQ(all.chosen[t][static_cast<std::size_t>(stream) * 2 + d], chosen[d]);
      }
      EXPECT_FLOAT_EQ(all.rewards[t][static_cast<std::size_t>(stream)], reward);
    }
  }
}

TEST_F(FragmentTest, OnlyTheLastStepOfAnEpisodeIsAnEnd) {
  FragmentStreams streams(layout_, envs_, kConflicts);
  const PushedSteps all = all_of(streams, packed());
  for (std::size_t t = 0; t < kSteps; ++t) {
    const auto ended = static_cast<std::uint8_t>(t == 4);
    EXPECT_EQ(all.ends[t], (std::vector<std::uint8_t>{ended, ended, 0, 0})) << t;
  }
  trajectories_[0].terminated = true;
  EXPECT_EQ(all_of(streams, packed()).ends.back(), (std::vector<std::uint8_t>{0, 0, 1, 1}));
  trajectories_[1].terminated = false;
  trajectories_[1].truncated = true;
  EXPECT_EQ(all_of(streams, packed()).ends[4], (std::vector<std::uint8_t>{2, 2, 0, 0}))
      << "the episode ended at its maximum length, so it is truncated and not terminated";
}

TEST_F(FragmentTest, AnEpisodeTruncatedAtTheEndOfAFragmentEnds) {
  FragmentStreams streams(layout_, envs_, kConflicts);
  trajectories_[0].truncated = true;
  trajectories_[2].truncated = true;
  EXPECT_EQ(all_of(streams, packed()).ends.back(), (std::vector<std::uint8_t>{2, 2, 2, 2}));
}

TEST_F(FragmentTest, AMissingStateIsRefused) {
  FragmentStreams streams(layout_, envs_, kConflicts);
  trajectories_[2].steps.pop_back();
  EXPECT_THROW(all_of(streams, packed()), Error);
}

}  // namespace
}  // namespace traffic::train::dqn
