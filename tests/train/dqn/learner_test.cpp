/// Tests of Q-learning of the vehicles' controller. They run on 1, 2 and 3 ranks.
#include "train/dqn/learner.h"

#include <gmock/gmock.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>

#include "mpi_main.h"
#include "train/offpolicy/batches.h"
#include "train/rollouts/experience_fixture.h"

namespace traffic::train::dqn {
namespace {

using namespace train::testing;  // NOLINT: helpers of experience_fixture.h
using offpolicy::Batch;
using offpolicy::OffPolicy;
using offpolicy::testing::rows_of;

constexpr std::int64_t kRows = 24;  // number of transitions of all ranks together
const RowLayout kLayout{.widths = kWidths, .places = 2};

config::Config config_with(const OffPolicy& settings) {
  config::Config config = small_config();
  config.extension<OffPolicy>() = settings;
  return config;
}

OffPolicy fast_settings() {
  return {.hidden_dim = 16, .learning_rate = 1e-2, .clip_norm = 1.0, .tau = 0.1};
}

/// Rows with random states. State i has i % 3 decisions.
torch::Tensor random_rows(std::int64_t count) {
  torch::Tensor rows = torch::randn({count, kLayout.width()});
  for (std::int64_t b = 0; b < count; ++b) {
    for (std::int64_t k = 0; k < kLayout.places; ++k) {
      rows[b][kLayout.first_place() + k * kLayout.width_of_place()] = k < b % 3 ? 1.0F : 0.0F;
    }
  }
  return rows;
}

Batch whole_batch(int number) {
  torch::manual_seed(50 + number);
  return {.obs = random_rows(kRows),
          .actions = torch::zeros({kRows}, torch::kLong),
          .action_vectors = torch::randint(3, {kRows, kLayout.places}).to(torch::kFloat),
          .steps = {.returns = torch::randn({kRows}), .discounts = torch::rand({kRows})},
          .next_obs = random_rows(kRows)};
}

offpolicy::Figures update(ControllerLearner& learner, const Batch& batch, int number) {
  Rng rng(7);
  return learner.update(batch, {.update = number, .total_batch = kRows, .rng = rng});
}

TEST(ControllerLearner, RanksLearnTheSameAsOneRankFromTheJoinedBatch) {
  const auto communicator = comm::make_communicator(traffic::testing::mpi_session(), at::kCPU, {});
  AloneCommunicator alone;
  const config::Config config = config_with(fast_settings());
  Policy ours(config, kWidths, torch::kCPU);
  Policy theirs(config, kWidths, torch::kCPU);
  ControllerLearner together(config, ours, kLayout, *communicator);
  ControllerLearner single(config, theirs, kLayout, alone);
  const std::int64_t share = kRows / communicator->size();
  for (int number = 0; number < 20; ++number) {
    const Batch batch = whole_batch(number);
    update(together, rows_of(batch, share * communicator->rank(), share), number);
    update(single, batch, number);
  }
  // One rank and several ranks sum the same float32 numbers in different orders. The rounding
  // errors grow over 20 updates of Adam.
  EXPECT_TRUE(torch::allclose(together.networks().parameters().flat(),
                              single.networks().parameters().flat(), 1e-3, 2e-4));
  comm::check_replicas_equal(*communicator, together.networks().parameters().flat(), "weights");
}

/// Reference implementation of the value of joint actions in one state.
double value_of(model::Controller& controller, const torch::Tensor& row,
                const std::vector<std::int64_t>& actions) {
  const torch::NoGradGuard no_grad;
  double value = controller->value(row.narrow(0, 0, kConflictWidth).unsqueeze(0)).item<double>();
  for (std::size_t k = 0; k < actions.size(); ++k) {
    const auto first =
        kLayout.first_place() + static_cast<std::int64_t>(k) * kLayout.width_of_place();
    const torch::Tensor a =
        controller
            ->forward({.own = row.narrow(0, first + 1, kOwn).unsqueeze(0),
                       .shared = row.narrow(0, kConflictWidth, kShared).unsqueeze(0),
                       .state = torch::zeros({1}, torch::kLong)})
            .longitudinal[0];
    value += a[actions[k]].item<double>() - a.mean().item<double>();
  }
  return value;
}

/// Highest value over all joint actions.
double best_value(model::Controller& controller, const torch::Tensor& row, std::int64_t decisions) {
  double best = -1e9;
  const std::int64_t all = decisions == 0 ? 1 : decisions == 1 ? 3 : 9;
  for (std::int64_t i = 0; i < all; ++i) {
    std::vector<std::int64_t> actions{i % 3, i / 3};
    actions.resize(static_cast<std::size_t>(decisions));
    best = std::max(best, value_of(controller, row, actions));
  }
  return best;
}

TEST(ControllerLearner, TargetIsTheValueOfTheBestJointAction) {
  AloneCommunicator alone;
  OffPolicy settings = fast_settings();
  settings.learning_rate = 1e-12;  // so small that the weights stay as they are
  const config::Config config = config_with(settings);
  Policy policy(config, kWidths, torch::kCPU);
  ControllerLearner learner(config, policy, kLayout, alone);
  const Batch batch = whole_batch(1);
  const offpolicy::Figures figures = update(learner, batch, 0);
  double loss = 0.0;
  for (std::int64_t b = 0; b < kRows; ++b) {
    std::vector<std::int64_t> actions;
    for (std::int64_t k = 0; k < b % 3; ++k) {
      actions.push_back(batch.action_vectors[b][k].item<std::int64_t>());
    }
    const double target = batch.steps.returns[b].item<double>() +
                          batch.steps.discounts[b].item<double>() *
                              best_value(policy.controller(), batch.next_obs[b], b % 3);
    const double off = std::abs(value_of(policy.controller(), batch.obs[b], actions) - target);
    loss += off < 1.0 ? off * off / 2 : off - 0.5;
  }
  EXPECT_EQ(figures[0].first, "loss");
  EXPECT_NEAR(figures[0].second, loss, 1e-4);  // float32
}

TEST(ControllerLearner, TargetIsTheValueOfTheAdviceIfTheMarginIsLarge) {
  AloneCommunicator alone;
  OffPolicy settings = fast_settings();
  settings.learning_rate = 1e-12;  // so small that the weights stay as they are
  const config::Config config = config_with(settings);
  model::ControllerInputs widths = kWidths;
  widths.advice = kOwn;  // all inputs are advice: one column for each of three commands
  Policy policy(config, widths, torch::kCPU);
  ControllerLearner learner(config, policy, {.widths = widths, .places = kLayout.places}, alone);
  policy.lean_on_advice(1e6);
  Batch batch = whole_batch(1);
  double loss = 0.0;
  for (std::int64_t b = 0; b < kRows; ++b) {
    std::vector<std::int64_t> chosen;
    std::vector<std::int64_t> advised;
    for (std::int64_t k = 0; k < b % 3; ++k) {
      chosen.push_back(batch.action_vectors[b][k].item<std::int64_t>());
      advised.push_back((b + k) % 3);
      const auto first = kLayout.first_place() + k * kLayout.width_of_place() + 1;
      batch.next_obs[b]
          .narrow(0, first, kOwn)
          .copy_(torch::one_hot(torch::tensor(advised.back()), kOwn));
    }
    const double target = batch.steps.returns[b].item<double>() +
                          batch.steps.discounts[b].item<double>() *
                              value_of(policy.controller(), batch.next_obs[b], advised);
    const double off = std::abs(value_of(policy.controller(), batch.obs[b], chosen) - target);
    loss += off < 1.0 ? off * off / 2 : off - 0.5;
  }
  const offpolicy::Figures figures = update(learner, batch, 0);
  EXPECT_EQ(figures[0].first, "loss");
  EXPECT_NEAR(figures[0].second, loss, 1e-4);  // float32
}

TEST(ControllerLearner, ThePolicyThatActsHasTheLearnedWeights) {
  AloneCommunicator alone;
  const config::Config config = config_with(fast_settings());
  Policy policy(config, kWidths, torch::kCPU);
  ControllerLearner learner(config, policy, kLayout, alone);
  // A decision with action k has the value k. The returns contain only the sum over a state.
  for (int number = 0; number < 300; ++number) {
    Batch batch = whole_batch(number);
    torch::Tensor sum = torch::zeros({kRows});
    for (std::int64_t b = 0; b < kRows; ++b) {
      for (std::int64_t k = 0; k < b % 3; ++k) sum[b] += batch.action_vectors[b][k];
    }
    batch.steps = {.returns = sum, .discounts = torch::zeros({kRows})};
    update(learner, batch, number);
  }
  const Decisions made =
      policy.decide({.own = torch::randn({4, kOwn}),
                     .shared = torch::randn({2, kShared}),
                     .segments = rl::Segments(torch::tensor({0, 2, 4}, torch::kLong))},
                    torch::tensor({2, 2}, torch::kLong), std::nullopt);
  EXPECT_TRUE(torch::equal(made.action, torch::full({4}, 2.0F)));
}

}  // namespace
}  // namespace traffic::train::dqn
