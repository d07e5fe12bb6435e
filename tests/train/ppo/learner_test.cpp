/// Tests of the updates of the vehicles' policy by PPO and by imitation. They run on 1, 2 and 3
/// ranks.
#include "train/ppo/learner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mpi_main.h"
#include "train/ppo/scenario_weights.h"
#include "train/rollouts/experience_fixture.h"

namespace traffic::train {
namespace {

using namespace testing;  // NOLINT: the helpers of experience_fixture.h

class LearnerOnRanks : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(LearnerOnRanks, AnUpdateEqualsThatOfOneRank) {
  const std::int64_t conflicts = GetParam();
  const config::Config config = small_config();
  const auto communicator =
      comm::make_communicator(traffic::testing::mpi_session(), at::kCPU, config.comm);
  AloneCommunicator alone;
  Policy joint_policy(config, kWidths, torch::kCPU);
  Policy lone_policy(config, kWidths, torch::kCPU);
  Learner joint(config, joint_policy, *communicator, conflicts);
  Learner lone(config, lone_policy, alone, conflicts);
  // Seven trajectories, so that ranks have different numbers of them.
  const auto all = play_all(7, conflicts, lone_policy, 5);
  const std::int64_t states = 7 * kLength;
  for (std::int64_t iteration = 0; iteration < 2; ++iteration) {
    const UpdateResult a =
        joint
            .update(share(all, communicator->rank(), communicator->size(), conflicts, 2), states,
                    iteration)
            .value();
    const UpdateResult b = lone.update(share(all, 0, 1, conflicts, 2), states, iteration).value();
    EXPECT_NEAR(a.statistics.approx_kl, b.statistics.approx_kl, 1e-4);
    EXPECT_NEAR(a.statistics.value_loss, b.statistics.value_loss, 1e-3);
    EXPECT_EQ(a.statistics.decisions, b.statistics.decisions);
  }
  // Sums are taken in another order, and Adam magnifies rounding where gradients are small. The
  // difference must still be small compared with a step, which is the learning rate of 1e-2.
  const double worst =
      (joint.parameters().flat() - lone.parameters().flat()).abs().max().item<double>();
  EXPECT_LT(worst, 1e-3);
  comm::check_replicas_equal(*communicator, joint.parameters().flat(), "parameters");
}
INSTANTIATE_TEST_SUITE_P(Conflicts, LearnerOnRanks, ::testing::Values(1, 3));

/// Checks the policy only for candidates whose first feature is clearly positive or negative.
void expect_stops_where_the_first_feature_is_positive(Policy& policy) {
  torch::Tensor own = torch::zeros({20, kOwn});
  for (std::int64_t i = 0; i < 20; ++i)
    own[i][0] =
        i < 10 ? 0.3 + 0.07 * static_cast<double>(i) : -0.3 - 0.07 * static_cast<double>(i - 10);
  const torch::Tensor ptr = torch::arange(21);
  const Decisions made = policy.decide(
      {.own = own, .shared = torch::zeros({20, kShared}), .segments = rl::Segments(ptr)},
      torch::full({20}, 2, torch::kLong), std::nullopt);
  EXPECT_TRUE((made.action.narrow(0, 0, 10) == 1.0).all().item<bool>());
  EXPECT_FALSE((made.action.narrow(0, 10, 10) == 1.0).any().item<bool>());
}

/// Replaces the actions of all decisions: a picked vehicle is stopped if its first feature is
/// positive, otherwise it gets no command.
void decide_as_expert(std::vector<Trajectory>& all) {
  for (Trajectory& trajectory : all) {
    for (Step& step : trajectory.steps) {
      for (std::size_t d = 0; d < step.made.place.size(); ++d) {
        step.made.action[d] =
            step.seen.own[step.made.place[d]][0].item<float>() > 0.0F ? 1.0F : 0.0F;
      }
    }
  }
}

TEST(Learner, ImitatesAnExpertOnAnyNumberOfRanks) {
  config::Config config = small_config();
  config.ppo.num_epochs = 20;
  config.imitation.iterations = 2;
  config.ppo.final_learning_rate = 0.2 * config.ppo.learning_rate;
  const auto communicator =
      comm::make_communicator(traffic::testing::mpi_session(), at::kCPU, config.comm);
  AloneCommunicator alone;
  Policy joint_policy(config, kWidths, torch::kCPU);
  Policy lone_policy(config, kWidths, torch::kCPU);
  Learner joint(config, joint_policy, *communicator, 1);
  Learner lone(config, lone_policy, alone, 1);
  auto all = play_all(7, 1, lone_policy, 5);
  decide_as_expert(all);
  const std::int64_t states = 7 * kLength;
  const Experience mine = share(all, communicator->rank(), communicator->size(), 1, 2);
  const UpdateResult a = joint.imitate(mine, states, 0).value();
  const UpdateResult b = lone.imitate(share(all, 0, 1, 1, 2), states, 0).value();
  // Sums over ranks have another order, so rounding errors grow over about 80 optimiser steps.
  EXPECT_NEAR(a.imitation_loss, b.imitation_loss, 1e-2);
  EXPECT_NEAR(a.imitation_agreement, b.imitation_agreement, 1e-12)
      << "the agreement is measured before the first update, so it must be equal";
  EXPECT_LT(a.imitation_agreement, 0.9);
  comm::check_replicas_equal(*communicator, joint.parameters().flat(), "parameters");
  const UpdateResult later = joint.imitate(mine, states, 1).value();
  EXPECT_LT(later.imitation_loss, a.imitation_loss);
  EXPECT_NEAR(later.learning_rate, 0.6 * a.learning_rate, 1e-12)
      << "the learning rate must be half way to its final value";
  EXPECT_GT(later.imitation_agreement, 0.9);
  expect_stops_where_the_first_feature_is_positive(joint_policy);
}

TEST(ScenarioWeights, GiveEpisodesOfAllScenariosTheSameTotal) {
  const config::Config config = small_config();
  const auto communicator =
      comm::make_communicator(traffic::testing::mpi_session(), at::kCPU, config.comm);
  Policy policy(config, kWidths, torch::kCPU);
  auto all = play_all(7, 1, policy, 5);
  std::vector<double> decisions(2, 0.0);
  for (Trajectory& trajectory : all) {
    trajectory.scenario = trajectory.order % 3 == 0 ? 1 : 0;  // three trajectories of seven
    for (Step& step : trajectory.steps) {
      if (trajectory.scenario == 1)
        step.made.place.resize(std::min<std::size_t>(1, step.made.size()));
      step.made.action.resize(step.made.size());
      step.made.lane.resize(step.made.size());
      step.decision_conflict.resize(step.made.size());
      step.own_cost.resize(step.made.size());
      decisions[static_cast<std::size_t>(trajectory.scenario)] +=
          static_cast<double>(step.made.size());
    }
  }
  const Experience mine = share(all, communicator->rank(), communicator->size(), 1, 2);
  const torch::Tensor weights = scenario_weights(mine, decisions_of_states(mine), 2, *communicator);
  const double of_episode = (decisions[0] + decisions[1]) / 7.0;
  for (std::size_t t = 0; t < mine.scenario.size(); ++t) {
    const double expected =
        of_episode / (mine.scenario[t] == 1 ? decisions[1] / 3.0 : decisions[0] / 4.0);
    EXPECT_NEAR(weights[mine.trajectory_ptr[t]].item<double>(), expected, 1e-6);
    EXPECT_NEAR(weights[mine.trajectory_ptr[t + 1] - 1].item<double>(), expected, 1e-6);
  }
  EXPECT_TRUE((scenario_weights(mine, decisions_of_states(mine), 1, *communicator) == 1.0)
                  .all()
                  .item<bool>());
}

TEST(ScenarioWeights, CountCommandsAndAHundredthOfOtherDecisions) {
  const config::Config config = small_config();
  Policy policy(config, kWidths, torch::kCPU);
  auto all = play_all(3, 1, policy, 5);
  double commands = 0.0;
  double others = 0.0;
  for (const Trajectory& trajectory : all) {
    for (const Step& step : trajectory.steps) {
      for (const float action : step.made.action) (action != 0.0F ? commands : others) += 1.0;
    }
  }
  ASSERT_GT(commands, 0.0);
  ASSERT_GT(others, 0.0);
  const Experience alone = share(all, 0, 1, 1, 2);
  EXPECT_NEAR(commands_of_states(alone).sum().item<double>(), commands + 0.01 * others, 1e-9);
  EXPECT_EQ(decisions_of_states(alone).sum().item<double>(), commands + others);
}

TEST(Learner, LearnsWhichVehiclesToCommand) {
  config::Config config = small_config();
  const auto communicator =
      comm::make_communicator(traffic::testing::mpi_session(), at::kCPU, config.comm);
  Policy policy(config, kWidths, torch::kCPU);
  Learner learner(config, policy, *communicator, 1);
  constexpr std::int64_t kTrajectories = 12;
  for (std::int64_t iteration = 0; iteration < 30; ++iteration) {
    const auto all =
        play_all(kTrajectories, 1, policy, 100 + static_cast<std::uint64_t>(iteration));
    learner.update(share(all, communicator->rank(), communicator->size(), 1, 2),
                   kTrajectories * kLength, iteration);
  }
  expect_stops_where_the_first_feature_is_positive(policy);
}

TEST(Learner, IgnoresConflictsThatARoadDoesNotHave) {
  const config::Config config = small_config();
  AloneCommunicator alone;
  Policy policy(config, kWidths, torch::kCPU);
  Learner learner(config, policy, alone, 1);
  const auto all = play_all(4, 1, policy, 9);
  auto padded = all;
  for (Trajectory& trajectory : padded) {
    const torch::Tensor noise = torch::full({1, kConflictWidth}, 7.0);
    for (Step& step : trajectory.steps) {
      step.seen.conflict = torch::cat({step.seen.conflict, noise});
      step.reward.push_back(100.0F);
      step.cost.push_back(0.0F);
      step.conflicts = 1;
    }
    trajectory.final_conflict = torch::cat({trajectory.final_conflict, noise});
  }
  learner.update(share(all, 0, 1, 1, 2), 4 * kLength, 0);

  Policy other_policy(config, kWidths, torch::kCPU);
  Learner other(config, other_policy, alone, 2);
  const UpdateResult result = other.update(share(padded, 0, 1, 2, 2), 4 * kLength, 0).value();
  // A matrix product with twice the rows sums in another order.
  EXPECT_TRUE(torch::allclose(other.parameters().flat(), learner.parameters().flat(), 1e-3, 1e-5));
  EXPECT_LT(result.mean_return, 50.0);
}

TEST(Learner, FittingTheValueDoesNotChangeThePolicy) {
  config::Config config = small_config();
  // The learning rate of the policy is 0 in iteration 1. fit() always uses ppo.learning_rate.
  config.ppo.final_learning_rate = 0.0;
  config.training.iterations = 1;
  config.ppo.value_epochs = 2;
  AloneCommunicator alone;
  Policy policy(config, kWidths, torch::kCPU);
  Learner learner(config, policy, alone, 1);
  const Experience experience = share(play_all(4, 1, policy, 9), 0, 1, 1, 2);
  const auto changed = [&](std::int64_t iteration) {
    std::vector<torch::Tensor> before;
    for (const auto& [name, p] : policy.parameters()) before.push_back(p.detach().clone());
    learner.update(experience, 4 * kLength, iteration);
    bool of_policy = false;
    bool of_value = false;
    std::size_t i = 0;
    for (const auto& [name, p] : policy.parameters()) {
      const bool moved = !torch::equal(p, before[i++]);
      (name.starts_with("controller.value") ? of_value : of_policy) |= moved;
    }
    return std::pair(of_policy, of_value);
  };
  EXPECT_EQ(changed(0), std::pair(true, true));
  EXPECT_EQ(changed(1), std::pair(false, true));
}

TEST(Learner, ContinuesWithTheSameBitsAfterRestoring) {
  const config::Config config = small_config();
  AloneCommunicator alone;
  Policy policy(config, kWidths, torch::kCPU);
  Learner learner(config, policy, alone, 1);
  const auto all = play_all(4, 1, policy, 9);
  const Experience experience = share(all, 0, 1, 1, 2);
  learner.update(experience, 4 * kLength, 0);
  learner.update(experience, 4 * kLength, 1);
  checkpoint::Snapshot snapshot(1);
  learner.save_to(snapshot);
  snapshot.own_tensors();  // copies the tensors, which so far share memory with the parameters
  learner.update(experience, 4 * kLength, 2);

  Policy other_policy(config, kWidths, torch::kCPU);
  Learner other(config, other_policy, alone, 1);
  other.restore_from(snapshot);
  other.update(experience, 4 * kLength, 2);
  EXPECT_TRUE(torch::equal(other.parameters().flat(), learner.parameters().flat()));
}

/// Mean squared difference of the log-probabilities that two policies give to the decisions of an
/// experience.
double distance(Policy& policy, Policy& other, const Experience& experience) {
  const Minibatch all = take(experience, torch::arange(experience.num_states()), torch::kCPU);
  const torch::NoGradGuard no_grad;
  const torch::Tensor ratio = policy.evaluate_actions(all.input, all.decisions).log_prob -
                              other.evaluate_actions(all.input, all.decisions).log_prob;
  return ratio.square().mean().item<double>();
}

TEST(Learner, LearningRateFollowsDesiredKlAlsoAfterRestoring) {
  config::Config config = small_config();
  AloneCommunicator alone;
  const auto rates = [&](double desired_kl) {
    config.ppo.desired_kl = desired_kl;
    Policy policy(config, kWidths, torch::kCPU);
    Learner learner(config, policy, alone, 1);
    const Experience experience = share(play_all(7, 1, policy, 5), 0, 1, 1, 2);
    std::vector<double> all;
    for (std::int64_t iteration = 0; iteration < 2; ++iteration) {
      all.push_back(learner.update(experience, 7 * kLength, iteration).value().learning_rate);
    }
    checkpoint::Snapshot snapshot(2);
    learner.save_to(snapshot);
    Policy restored_policy(config, kWidths, torch::kCPU);
    Learner restored(config, restored_policy, alone, 1);
    restored.restore_from(snapshot);
    const UpdateResult a = learner.update(experience, 7 * kLength, 2).value();
    const UpdateResult b = restored.update(experience, 7 * kLength, 2).value();
    EXPECT_EQ(a.learning_rate, b.learning_rate);
    EXPECT_TRUE(torch::equal(learner.parameters().flat(), restored.parameters().flat()));
    all.push_back(a.learning_rate);
    return all;
  };
  using ::testing::DoubleEq;
  using ::testing::ElementsAre;
  EXPECT_THAT(rates(10.0), ElementsAre(DoubleEq(1e-2), DoubleEq(1.5e-2), DoubleEq(2.25e-2)));
  EXPECT_THAT(rates(1e-9),
              ElementsAre(DoubleEq(1e-2), DoubleEq(1e-2 / 1.5), DoubleEq(1e-2 / 2.25)));
  EXPECT_THAT(rates(0.0), ElementsAre(DoubleEq(1e-2), DoubleEq(1e-2), DoubleEq(1e-2)));
}

TEST(Learner, StaysNearThePriorWhileItsCoefficientIsPositive) {
  config::Config config = small_config();
  config.training.iterations = 20;
  AloneCommunicator alone;
  const auto distance_after_training = [&](double coef) {
    config.imitation.prior_coef = coef;
    Policy policy(config, kWidths, torch::kCPU);
    Policy before(config, kWidths, torch::kCPU);  // same seed, so the same weights
    Prior prior(config, kWidths, torch::kCPU);
    Learner learner(config, policy, alone, 1, {.prior = &prior});
    prior.set(policy, 0);
    for (std::int64_t iteration = 0; iteration < 10; ++iteration) {
      const auto all = play_all(8, 1, policy, 100 + static_cast<std::uint64_t>(iteration));
      const auto result = learner.update(share(all, 0, 1, 1, 2), 8 * kLength, iteration);
      EXPECT_DOUBLE_EQ(result->prior_coef, coef * (1.0 - static_cast<double>(iteration) / 20.0));
    }
    return distance(policy, before, share(play_all(8, 1, before, 7), 0, 1, 1, 2));
  };
  EXPECT_LT(distance_after_training(5.0), 0.5 * distance_after_training(0.0));
}

}  // namespace
}  // namespace traffic::train
