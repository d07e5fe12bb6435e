/// Tests of the updates of the learners dqn, ddpg and sac. They run on 1, 2 and 3 ranks.
#include "train/offpolicy/mlp_learner.h"

#include <gmock/gmock.h>
#include <torch/utils.h>

#include <cmath>

#include "mpi_main.h"
#include "support/alone_communicator.h"
#include "train/offpolicy/batches.h"

namespace traffic::train::offpolicy {
namespace {

using testing::rows_of;

constexpr Spaces kSpaces{.obs_dim = 9, .num_actions = 4};
constexpr std::int64_t kRows = 24;  // number of transitions of all ranks together

OffPolicy settings_of(const std::string& learner, const std::string& ddpg_action = "softmax") {
  OffPolicy settings;
  settings.learner = learner;
  settings.ddpg_action = ddpg_action;
  settings.hidden_dim = 16;
  settings.learning_rate = 1e-2;
  settings.actor_learning_rate = 1e-2;
  settings.clip_norm = 1.0;
  settings.tau = 0.1;
  return settings;
}

Batch whole_batch(std::int64_t action_dim, int number) {
  torch::manual_seed(100 + number);
  return {.obs = torch::randn({kRows, kSpaces.obs_dim}),
          .actions = torch::randint(kSpaces.num_actions, {kRows}),
          .action_vectors = torch::rand({kRows, action_dim}),
          .steps = {.returns = torch::randn({kRows}), .discounts = torch::rand({kRows})},
          .next_obs = torch::randn({kRows, kSpaces.obs_dim})};
}

void update(Learner& learner, const Batch& batch, int number) {
  Rng rng(7);
  learner.update(batch, {.update = number, .total_batch = kRows, .rng = rng});
}

class Learners : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, Learners, ::testing::Values("dqn", "ddpg", "sac"));

TEST_P(Learners, RanksTogetherLearnWhatOneLearnsFromTheWholeBatch) {
  const auto communicator = comm::make_communicator(traffic::testing::mpi_session(), at::kCPU, {});
  test::AloneCommunicator alone;
  const OffPolicy settings = settings_of(GetParam());
  const auto together = make_learner(settings, kSpaces, 3, *communicator);
  const auto single = make_learner(settings, kSpaces, 3, alone);
  const std::int64_t share = kRows / communicator->size();
  for (int number = 0; number < 20; ++number) {
    const Batch batch = whole_batch(single->action_dim(), number);
    update(*together, rows_of(batch, share * communicator->rank(), share), number);
    update(*single, batch, number);
  }
  // Several ranks add the same float32 numbers in another order than one rank. The rounding errors
  // grow over 20 updates of Adam.
  EXPECT_TRUE(torch::allclose(together->networks().parameters().flat(),
                              single->networks().parameters().flat(), 1e-3, 2e-4))
      << (together->networks().parameters().flat() - single->networks().parameters().flat())
             .abs()
             .max();
  comm::check_replicas_equal(*communicator, together->networks().parameters().flat(), "weights");
}

TEST_P(Learners, ResumeToTheBitFromACheckpoint) {
  test::AloneCommunicator alone;
  const OffPolicy settings = settings_of(GetParam());
  const auto whole = make_learner(settings, kSpaces, 3, alone);
  const auto resumed = make_learner(settings, kSpaces, 4, alone);
  for (int number = 0; number < 5; ++number) {
    update(*whole, whole_batch(whole->action_dim(), number), number);
  }
  checkpoint::Snapshot snapshot(5);
  whole->save_to(snapshot);
  snapshot.own_tensors();
  resumed->restore_from(snapshot);
  for (int number = 5; number < 10; ++number) {
    update(*whole, whole_batch(whole->action_dim(), number), number);
    update(*resumed, whole_batch(whole->action_dim(), number), number);
  }
  checkpoint::Snapshot one(10);
  checkpoint::Snapshot other(10);
  whole->save_to(one);
  resumed->save_to(other);
  for (const std::string& name : one.names("model/")) {
    EXPECT_TRUE(torch::equal(one.tensor(name), other.tensor(name))) << name;
  }
  for (const std::string& name : one.names("target/")) {
    EXPECT_TRUE(torch::equal(one.tensor(name), other.tensor(name))) << name;
  }
}

/// Transitions of a bandit: one state, and four actions with the rewards 0 to 3. Each action ends
/// the episode.
Batch bandit(std::int64_t action_dim) {
  const torch::Tensor actions = torch::arange(kRows) % kSpaces.num_actions;
  torch::Tensor vectors = torch::zeros({kRows, action_dim});
  if (action_dim > 0) vectors.scatter_(1, actions.unsqueeze(1), 1.0);
  return {.obs = torch::ones({kRows, kSpaces.obs_dim}),
          .actions = actions,
          .action_vectors = vectors,
          .steps = {.returns = actions.to(torch::kFloat), .discounts = torch::zeros({kRows})},
          .next_obs = torch::ones({kRows, kSpaces.obs_dim})};
}

std::int64_t preferred(MlpLearner& learner) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor scores = learner.policy()->forward(torch::ones({1, kSpaces.obs_dim}));
  return scores[0].slice(0, learner.first_score()).argmax().item<std::int64_t>();
}

void expect_learns_the_best(const OffPolicy& settings) {
  test::AloneCommunicator alone;
  const auto learner = make_learner(settings, kSpaces, 5, alone);
  const Batch batch = bandit(learner->action_dim());
  Rng rng(8);
  for (int number = 0; number < 300; ++number) {
    learner->update(batch, {.update = number, .total_batch = kRows, .rng = rng});
  }
  EXPECT_EQ(preferred(*learner), 3);
}

TEST_P(Learners, FindTheActionWithTheHighestReward) {
  expect_learns_the_best(settings_of(GetParam()));
}

TEST(Ddpg, FindsTheBestActionWithTheGumbelGradient) {
  expect_learns_the_best(settings_of("ddpg", "gumbel"));
}

TEST(Dqn, ItsLossEqualsTheHuberLossOfTheDoubleDuelingTargets) {
  test::AloneCommunicator alone;
  OffPolicy settings = settings_of("dqn");
  settings.learning_rate = 1e-12;  // the weights hardly change
  settings.tau = 0.0;
  const auto learner = make_learner(settings, kSpaces, 6, alone);
  const Batch batch = whole_batch(0, 1);
  Rng rng(9);
  const Figures figures = learner->update(batch, {.total_batch = kRows, .rng = rng});
  const torch::NoGradGuard no_grad;
  const auto q_of = [&](const torch::Tensor& obs) {
    const torch::Tensor heads = learner->policy()->forward(obs).to(torch::kDouble);
    const torch::Tensor a = heads.slice(1, 1);
    return heads.slice(1, 0, 1) + a - a.mean(1, true);
  };
  const torch::Tensor q = q_of(batch.obs);
  const torch::Tensor next = q_of(batch.next_obs);
  double loss = 0.0;
  for (std::int64_t i = 0; i < kRows; ++i) {
    const double target = batch.steps.returns[i].item<double>() +
                          batch.steps.discounts[i].item<double>() * next[i].max().item<double>();
    const double off = std::abs(q[i][batch.actions[i]].item<double>() - target);
    loss += off < 1.0 ? off * off / 2 : off - 0.5;
  }
  EXPECT_EQ(figures[0].first, "loss");
  EXPECT_NEAR(figures[0].second, loss, 1e-4);  // float32
}

TEST(Dqn, SetsItsTargetsEqualEveryInterval) {
  test::AloneCommunicator alone;
  OffPolicy settings = settings_of("dqn");
  settings.tau = 0.0;
  settings.target_interval = 3;
  const auto learner = make_learner(settings, kSpaces, 6, alone);
  const auto is_equal = [&] {
    const torch::Tensor x = torch::ones({1, kSpaces.obs_dim});
    const torch::NoGradGuard no_grad;
    return torch::equal(learner->online(0)->forward(x), learner->target(0)->forward(x));
  };
  EXPECT_TRUE(is_equal());
  for (int number = 0; number < 6; ++number) {
    update(*learner, whole_batch(0, number), number);
    EXPECT_EQ(is_equal(), number % 3 == 2) << number;
  }
}

}  // namespace
}  // namespace traffic::train::offpolicy
