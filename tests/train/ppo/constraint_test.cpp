/// Tests of the cost, and of phase 3, which keeps the cost below a limit. They run on 1, 2 and 3
/// ranks.
#include "train/ppo/constraint.h"

#include <gtest/gtest.h>

#include "mpi_main.h"
#include "train/ppo/learner.h"
#include "train/rollouts/cost.h"
#include "train/rollouts/experience_fixture.h"

namespace traffic::train {
namespace {

using namespace testing;  // NOLINT: helpers of experience_fixture.h

constexpr std::int64_t kEpisodes = 12;
constexpr double kLimit = 0.05;

config::Config constrained_config() {
  config::Config config = small_config();
  config.run.phase = "3";
  config.lagrange.cost_limit = kLimit;
  config.lagrange.learning_rate = 2.0;
  config.lagrange.critic_hidden_dim = 16;
  return config;
}

/// Changes the rewards and costs: every stop gives a reward of 1, and a stop is unsafe if the
/// second feature of the vehicle is positive. The cost of a step is the share of its decisions that
/// are unsafe stops.
/// @return mean cost of a step
double set_costly_task(std::vector<Trajectory>& all) {
  double sum = 0.0;
  double steps = 0.0;
  for (Trajectory& trajectory : all) {
    for (Step& step : trajectory.steps) {
      double stops = 0.0;
      double unsafe = 0.0;
      for (std::size_t d = 0; d < step.made.place.size(); ++d) {
        if (step.made.action[d] != 1.0F) continue;
        stops += 1.0;
        if (step.seen.own[step.made.place[d]][1].item<float>() > 0.0F) unsafe += 1.0;
      }
      step.reward = {static_cast<float>(stops)};
      step.cost = {step.made.place.empty()
                       ? 0.0F
                       : static_cast<float>(unsafe / static_cast<double>(step.made.place.size()))};
      sum += static_cast<double>(step.cost[0]);
      steps += 1.0;
    }
  }
  return sum / steps;
}

/// Trains on this task. @return mean cost of a step in the last iteration
double learn(comm::Communicator& communicator, const config::Config& config, Policy& policy,
             Constraint* constraint) {
  Learner learner(config, policy, communicator, 1, {.constraint = constraint});
  double cost = 0.0;
  for (std::int64_t iteration = 0; iteration < 40; ++iteration) {
    auto all = play_all(kEpisodes, 1, policy, 100 + static_cast<std::uint64_t>(iteration));
    cost = set_costly_task(all);
    if (constraint != nullptr) constraint->observe(cost);
    learner.update(share(all, communicator.rank(), communicator.size(), 1, 2), kEpisodes * kLength,
                   iteration);
  }
  return cost;
}

/// @return [20] bool: whether the policy stops ten clearly safe candidates, then ten unsafe ones
torch::Tensor stops_of(Policy& policy) {
  torch::Tensor own = torch::zeros({20, kOwn});
  for (std::int64_t i = 0; i < 20; ++i) {
    const double clear = 0.4 + 0.06 * static_cast<double>(i % 10);
    own[i][1] = i < 10 ? -clear : clear;
  }
  const Decisions made = policy.decide({.own = own,
                                        .shared = torch::zeros({20, kShared}),
                                        .segments = rl::Segments(torch::arange(21))},
                                       torch::full({20}, 2, torch::kLong), std::nullopt);
  return made.action == 1.0;
}

TEST(Constraint, LearnerStopsVehiclesOnlyWhereItIsSafe) {
  const config::Config config = constrained_config();
  const auto communicator =
      comm::make_communicator(traffic::testing::mpi_session(), at::kCPU, config.comm);
  Policy policy(config, kWidths, torch::kCPU);
  Constraint constraint(config, kConflictWidth, 1, *communicator);
  const double cost = learn(*communicator, config, policy, &constraint);
  const torch::Tensor stops = stops_of(policy);
  EXPECT_TRUE(stops.narrow(0, 0, 10).all().item<bool>());
  EXPECT_FALSE(stops.narrow(0, 10, 10).any().item<bool>());
  // The policy still explores when it samples, so the cost may be above the limit. Twice the limit
  // is one unsafe stop in ten states.
  EXPECT_LT(cost, 2 * kLimit);
  EXPECT_GT(constraint.multiplier(), 0.0);
  comm::check_replicas_equal(*communicator, constraint.parameters().flat(), "cost critic");
}

TEST(Constraint, WithoutItTheLearnerStopsAllVehicles) {
  const config::Config config = constrained_config();
  const auto communicator =
      comm::make_communicator(traffic::testing::mpi_session(), at::kCPU, config.comm);
  Policy policy(config, kWidths, torch::kCPU);
  EXPECT_GT(learn(*communicator, config, policy, nullptr), 4 * kLimit);
  EXPECT_TRUE(stops_of(policy).all().item<bool>());
}

TEST(Constraint, MultiplierRisesOverTheLimitAndFallsUnderIt) {
  config::Config config = constrained_config();
  config.lagrange.max = 0.25;
  AloneCommunicator alone;
  Constraint constraint(config, kConflictWidth, 1, alone);
  constraint.observe(0.15);
  EXPECT_NEAR(constraint.multiplier(), 0.2, 1e-12);
  constraint.observe(0.15);
  EXPECT_EQ(constraint.multiplier(), 0.25);
  EXPECT_TRUE(constraint.is_at_max());
  constraint.observe(0.0);
  EXPECT_NEAR(constraint.multiplier(), 0.15, 1e-12);
  for (int i = 0; i < 5; ++i) constraint.observe(0.0);
  EXPECT_EQ(constraint.multiplier(), 0.0);
}

TEST(Constraint, AccumulatedPartsOfAMinibatchGiveTheSameUpdate) {
  config::Config config = small_config();
  AloneCommunicator alone;
  Policy whole_policy(config, kWidths, torch::kCPU);
  Policy parts_policy(config, kWidths, torch::kCPU);
  Learner whole(config, whole_policy, alone, 1);
  config.ppo.accumulation_steps = 3;
  Learner parts(config, parts_policy, alone, 1);
  const auto all = play_all(4, 1, whole_policy, 9);
  const Experience experience = share(all, 0, 1, 1, 2);
  whole.update(experience, 4 * kLength, 0);
  parts.update(experience, 4 * kLength, 0);
  // The sums have another order, so parameters differ by rounding. A step of the optimiser changes
  // a parameter by up to 1e-2, so the tolerance is a tenth of a step.
  EXPECT_LT((whole.parameters().flat() - parts.parameters().flat()).abs().max().item<double>(),
            1e-3);
}

TEST(Cost, IsTheUnsafeShareOfTheTimeUnderControlPlusEvents) {
  config::Lagrange weights;
  weights.collision_cost = 2.0;
  weights.emergency_stop_cost = 0.5;
  const std::vector<rollout::ControlledVehicle> controlled{
      {.vehicle_id = 1, .conflict = 0, .steps = 3, .unsafe_steps = 1},
      {.vehicle_id = 2, .conflict = 1, .steps = 2, .unsafe_steps = 2},
      {.vehicle_id = 3, .conflict = -1, .steps = 3, .unsafe_steps = 1}};
  scene::EpisodeScore before;
  before.collisions = 4;
  rollout::Period period;
  period.num_conflicts = 2;
  period.sections.get<rollout::VehicleSection>().controlled = controlled;
  period.score.collisions = 5;
  period.score.emergency_stops = 2;
  const auto one = Cost(weights, 1)(period, before);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_FLOAT_EQ(one[0], 4.0F / 8.0F + 2.0F + 1.0F);
  const auto two = Cost(weights, 2)(period, before);
  ASSERT_EQ(two.size(), 2U);
  EXPECT_FLOAT_EQ(two[0], 1.5F / 8.0F + 1.5F);
  EXPECT_FLOAT_EQ(two[1], 2.5F / 8.0F + 1.5F);
  const auto of_three = Cost(weights, 3)(period, before);
  EXPECT_FLOAT_EQ(of_three[1], two[1]);
  EXPECT_EQ(of_three[2], 0.0F);
  const rollout::Period quiet;
  EXPECT_EQ(Cost(weights, 1)(quiet, {})[0], 0.0F);
}

}  // namespace
}  // namespace traffic::train
