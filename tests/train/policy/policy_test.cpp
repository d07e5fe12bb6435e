#include "train/policy/policy.h"

#include <gtest/gtest.h>

#include "traffic/scene/frame.h"
#include "train/policy/commands.h"
#include "train/rollouts/experience_fixture.h"

namespace traffic::train {
namespace {

using namespace testing;  // NOLINT: the helpers of experience_fixture.h

PolicyInput input_of(const std::vector<std::int64_t>& ptr, std::uint64_t seed) {
  Rng rng(seed);
  const auto states = static_cast<std::int64_t>(ptr.size()) - 1;
  return {.own = test::draw_uniforms(rng, {ptr.back(), kOwn}),
          .shared = test::draw_uniforms(rng, {states, kShared}),
          .segments = rl::Segments(torch::tensor(ptr))};
}

double share_of_commands(Policy& policy) {
  const PolicyInput in = input_of({0, 1000, 2000}, 1);
  Rng rng(2);
  const Decisions made =
      policy.decide(in, torch::tensor({policy.top_k(), policy.top_k()}, torch::kLong),
                    test::draw_uniforms(rng, {2000, policy.uniform_columns()}));
  return (made.action > 0.5).to(torch::kDouble).mean().item<double>();
}

TEST(Policy, StartsWithTheConfiguredProbabilityOfACommand) {
  config::Config config = testing::small_config();
  config.vehicles.top_k = 1000;
  for (const double probability : {0.1, 0.35, 0.8}) {
    config.vehicles.first_command_probability = probability;
    Policy policy(config, kWidths, torch::kCPU);
    // Three standard errors of 2,000 draws are at most 0.035. The small initial weights of the
    // heads shift the probability a little.
    EXPECT_NEAR(share_of_commands(policy), probability, 0.05);
  }
}

/// 2,000 candidates in two states. The advice for each is one of three commands.
class AdvisedPolicy : public ::testing::Test {
 protected:
  AdvisedPolicy() {
    config_.vehicles.top_k = 1000;
    config_.vehicles.advisor = "meter";
    config_.vehicles.advice_probability = 0.8;
    widths_.advice = 3;
    widths_.own = kOwn + widths_.advice;
    advised_ = (test::draw_uniforms(draws_, {2000}) * 3.0).clamp_max(2.0).to(torch::kLong);
    in_.own = torch::cat({in_.own, torch::one_hot(advised_, 3).to(torch::kFloat)}, 1);
  }

  [[nodiscard]] Policy make() const { return {config_, widths_, torch::kCPU}; }
  static Decisions decide(Policy& policy, const PolicyInput& in, const MaybeUniforms& uniforms) {
    return policy.decide(in, torch::tensor({1000, 1000}, torch::kLong), uniforms);
  }
  /// Whether sampled decisions follow the advice, 1 or 0 for each decision.
  struct Followed {
    torch::Tensor commands;  ///< where the advice is a command
    torch::Tensor nothing;   ///< where the advice is "none"
  };
  Followed followed(Policy& policy) {
    const Decisions made =
        decide(policy, in_, test::draw_uniforms(draws_, {2000, policy.uniform_columns()}));
    EXPECT_EQ(made.row.numel(), 2000);
    const torch::Tensor wanted = advised_.index_select(0, made.row);
    const torch::Tensor followed = (made.action.to(torch::kLong) == wanted).to(torch::kDouble);
    return {followed.index({wanted > 0}), followed.index({wanted == 0})};
  }

  config::Config config_ = testing::small_config();
  model::ControllerInputs widths_ = kWidths;
  PolicyInput in_ = input_of({0, 1000, 2000}, 1);
  Rng draws_{5};
  torch::Tensor advised_;
};

TEST_F(AdvisedPolicy, StartsByFollowingTheAdvice) {
  Policy policy = make();
  const Decisions greedy = decide(policy, in_, {});
  ASSERT_EQ(greedy.row.numel(), 2000);
  EXPECT_TRUE(torch::equal(greedy.action.to(torch::kLong), advised_.index_select(0, greedy.row)));
  const Followed share = followed(policy);
  // Three standard errors are 0.033 for the 1,300 candidates with an advised command, and 0.022 for
  // the 700 whose advice is "none".
  EXPECT_NEAR(share.commands.mean().item<double>(), 0.8, 0.04);
  EXPECT_NEAR(share.nothing.mean().item<double>(), 0.96, 0.03);
}

TEST_F(AdvisedPolicy, DeviatesOnlyIfTheValueIsHigherByTheMargin) {
  Policy policy = make();
  {
    const torch::NoGradGuard no_grad;
    auto parameters = policy.controller()->named_parameters();
    parameters["advice.weight"].zero_();
    parameters["longitudinal.weight"].zero_();
    parameters["longitudinal.bias"].copy_(torch::tensor({0.0F, 0.5F, 1.0F}));
  }
  const auto commands = [&](double margin) {
    policy.lean_on_advice(margin);
    return decide(policy, in_, {});
  };
  EXPECT_TRUE((commands(0.0).action == 2.0).all().item<bool>());
  // A margin of 0.7 is more than the 0.5 between the values of adjacent commands, but less than the
  // 1.0 between those of the first and the last command.
  const Decisions some = commands(0.7);
  const torch::Tensor advised = advised_.index_select(0, some.row);
  EXPECT_TRUE(torch::equal(some.action.to(torch::kLong),
                           torch::where(advised == 0, torch::full_like(advised, 2), advised)));
  const Decisions none = commands(1.1);
  EXPECT_TRUE(torch::equal(none.action.to(torch::kLong), advised_.index_select(0, none.row)));
}

TEST_F(AdvisedPolicy, ExploresAroundTheAdvice) {
  config_.vehicles.first_command_probability = 0.6;
  Policy policy = make();
  {
    const torch::NoGradGuard no_grad;
    auto parameters = policy.controller()->named_parameters();
    parameters["advice.weight"].zero_();
    parameters["longitudinal.bias"].copy_(torch::tensor({0.0F, 0.0F, 5.0F}));
  }
  policy.explore(1.0);
  const Followed share = followed(policy);
  // A candidate that does not take the advice gets "none" with probability 0.4 and each of the two
  // commands with probability 0.3. These three include the command that was advised.
  EXPECT_NEAR(share.commands.mean().item<double>(), 0.8 + 0.2 * 0.3, 0.035);
  EXPECT_NEAR(share.nothing.mean().item<double>(), 0.96 + 0.04 * 0.4, 0.02);
}

TEST(Policy, ExploringActsRandomlyForAShareOfTheCandidates) {
  config::Config config = testing::small_config();
  config.vehicles.top_k = 1000;
  config.vehicles.first_command_probability = 0.8;
  Policy policy(config, kWidths, torch::kCPU);
  {
    const torch::NoGradGuard no_grad;
    policy.controller()->named_parameters()["longitudinal.bias"].copy_(
        torch::tensor({0.0F, 0.0F, 5.0F}));  // the greedy choice is the last command
  }
  const PolicyInput in = input_of({0, 1000, 2000}, 1);
  const torch::Tensor left = torch::tensor({1000, 1000}, torch::kLong);
  const auto shares = [&](double exploring) {
    policy.explore(exploring);
    Rng rng(2);
    const Decisions made =
        policy.decide(in, left, test::draw_uniforms(rng, {2000, policy.uniform_columns()}));
    EXPECT_EQ(made.row.numel(), 2000);
    return torch::bincount(made.action.to(torch::kLong), {}, 3).to(torch::kDouble) / 2000.0;
  };
  // The tolerance is three standard errors of 2,000 draws, which are 0.034 at most.
  EXPECT_TRUE(torch::allclose(shares(0.0), torch::tensor({0.0, 0.0, 1.0}, torch::kDouble)));
  EXPECT_TRUE(
      torch::allclose(shares(1.0), torch::tensor({0.2, 0.4, 0.4}, torch::kDouble), 0, 0.04));
  EXPECT_TRUE(
      torch::allclose(shares(0.5), torch::tensor({0.1, 0.2, 0.7}, torch::kDouble), 0, 0.04));
}

TEST(Policy, PicksExploringCommandsFirst) {
  Policy policy(testing::small_config(), kWidths, torch::kCPU);
  policy.explore(0.5);
  torch::Tensor uniforms = torch::full({4, policy.uniform_columns()}, 0.9F);
  uniforms[3] = torch::tensor({0.0F, 0.0F, 0.99F, 0.0F, 0.0F, 0.0F, 0.0F});
  const Decisions made =
      policy.decide(input_of({0, 4}, 3), torch::tensor({2}, torch::kLong), uniforms);
  EXPECT_EQ(made.picks[0][0].item<std::int64_t>(), 3);
  EXPECT_EQ(made.action[0].item<float>(), 2.0F);
}

TEST(Policy, PicksNoMoreThanMayPickAllows) {
  Policy policy(testing::small_config(), kWidths, torch::kCPU);
  const PolicyInput in = input_of({0, 4, 8, 9, 9}, 3);
  const Decisions made = policy.decide(in, torch::tensor({2, 1, 2, 2}, torch::kLong), std::nullopt);
  const torch::Tensor counts = (made.picks >= 0).sum(1);
  EXPECT_TRUE(torch::equal(counts, torch::tensor({2, 1, 1, 0}, torch::kLong)));
  EXPECT_EQ(made.row.numel(), 4);
}

TEST(Policy, OnlyArriveLateOutlastsTheControlPeriod) {
  config::Config config = testing::small_config();
  config.vehicles.commands = {"none", "stop", "arrive_late"};
  config.env.control_period_s = 5.0;
  const std::vector<std::uint32_t> vehicles = {7};
  const scene::FrameView frame{.vehicle_id = vehicles};
  const auto hold_s = [&](float action) {
    const auto command = Policy(config, kWidths, torch::kCPU).command(frame, {}, action, 1);
    return command ? command->hold_s : 0.0;
  };
  EXPECT_EQ(hold_s(0.0F), 0.0) << "without a command there is no duration";
  EXPECT_EQ(hold_s(2.0F), 5.0);
  config.env.commit_s = 30.0;
  EXPECT_EQ(hold_s(1.0F), 5.0);
  EXPECT_EQ(hold_s(2.0F), 30.0);
}

TEST(Policy, EvaluatesItsOwnDecisionsWithGradient) {
  config::Config config = testing::small_config();
  config.vehicles.lane_change = true;
  for (const char* kind : {"categorical", "target_speed", "acceleration"}) {
    config.vehicles.longitudinal = kind;
    Policy policy(config, kWidths, torch::kCPU);
    const PolicyInput in = input_of({0, 4, 6}, 4);
    Rng rng(5);
    const Decisions made = policy.decide(in, torch::tensor({2, 2}, torch::kLong),
                                         test::draw_uniforms(rng, {6, policy.uniform_columns()}));
    // Autograd does not accept the inference tensors that decide() returns, so copy them.
    const PolicyTermsOf terms = policy.evaluate_actions(in, {.picks = made.picks.clone(),
                                                             .row = made.row.clone(),
                                                             .action = made.action.clone(),
                                                             .lane = made.lane.clone()});
    EXPECT_EQ(terms.log_prob.numel(), 4);
    EXPECT_TRUE(torch::isfinite(terms.log_prob).all().item<bool>()) << kind;
    EXPECT_TRUE((terms.selection_log_prob < 0).all().item<bool>()) << kind;
    EXPECT_TRUE(terms.log_prob.requires_grad()) << kind;
  }
}

TEST(Policy, TurnsActionsIntoCommandsThatLastAControlPeriod) {
  config::Config config = testing::small_config();
  config.vehicles.lane_change = true;
  const Policy policy(config, kWidths, torch::kCPU);
  const std::vector<std::uint32_t> ids{7, 9};
  const std::vector<float> rows(2 * scene::node_features().size(), 0.0F);
  const scene::FrameView frame{.vehicle_id = ids, .node_features = rows};
  const scene::Candidate candidate{.node = 1, .conflict = 0, .approach = 0};
  EXPECT_FALSE(policy.command(frame, candidate, 0.0F, 1).has_value());
  const auto stop = policy.command(frame, candidate, 1.0F, 1);
  ASSERT_TRUE(stop.has_value());
  EXPECT_EQ(stop->vehicle_id, 9U);
  EXPECT_EQ(stop->longitudinal, scene::Longitudinal::kStop);
  EXPECT_EQ(stop->hold_s, config.env.control_period_s);
  const auto left = policy.command(frame, candidate, 0.0F, 2);
  ASSERT_TRUE(left.has_value());
  EXPECT_EQ(left->lane_change, scene::LaneChange::kLeft);
}

TEST(Policy, TurnsLaneCommandsIntoLaneChanges) {
  config::Config config = testing::small_config();
  config.vehicles.commands = {"none", "slow", "left", "right"};
  config.vehicles.lane_change = false;
  const Policy policy(config, kWidths, torch::kCPU);
  const std::vector<std::uint32_t> ids{7};
  const scene::FrameView frame{.vehicle_id = ids};
  const auto asked = [&](float action) {
    return scene::category_of(policy.command(frame, {}, action, kKeepLane).value());
  };
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(asked(static_cast<float>(i)), policy.commands()[i]);
  }
}

TEST(Policy, ContinuousCommandsStayWithinTheirBounds) {
  config::Config config = testing::small_config();
  config.vehicles.longitudinal = "acceleration";
  const Policy policy(config, kWidths, torch::kCPU);
  const std::vector<std::uint32_t> ids{1};
  const std::vector<float> rows(scene::node_features().size(), 0.0F);
  const scene::FrameView frame{.vehicle_id = ids, .node_features = rows};
  EXPECT_NEAR(policy.command(frame, {}, -50.0F, 1)->value, config.env.min_accel_mps2, 1e-6);
  EXPECT_NEAR(policy.command(frame, {}, 50.0F, 1)->value, config.env.max_accel_mps2, 1e-6);
  EXPECT_NEAR(policy.command(frame, {}, 0.0F, 1)->value, -0.5, 1e-6);  // middle of -3 .. 2
}

}  // namespace
}  // namespace traffic::train
