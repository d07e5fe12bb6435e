/// Tests of Q-learning of traffic lights and of the rows of its replay. They run on 1, 2 and 3
/// ranks.
#include "train/lights/q_learner.h"

#include <gmock/gmock.h>
#include <torch/utils.h>

#include <cmath>

#include "mpi_main.h"
#include "support/alone_communicator.h"
#include "traffic/core/error.h"
#include "train/lights/histories.h"

namespace traffic::train::lights {
namespace {

using ::testing::HasSubstr;
using testing::simulate_episodes;
using testing::simulate_light;

constexpr LightKind kKind{.hidden_dim = 16};
constexpr double kFirstLogit = 0.5;

/// Records the steps that for_each_decision() passes to its callback.
struct Pushed {
  std::vector<std::vector<float>> rows;
  std::vector<std::vector<float>> returns;
  std::vector<std::int64_t> chosen;
  std::vector<std::uint8_t> ends;
};

Pushed push_all(const RowLayout& layout, const std::vector<EpisodeHistory>& episodes,
                const Return& kind) {
  Pushed all;
  for_each_decision(layout, episodes, kind, [&](const replay::Step& step) {
    all.rows.emplace_back(step.obs.begin(), step.obs.end());
    all.returns.emplace_back(step.action_vectors.begin(), step.action_vectors.end());
    all.chosen.push_back(step.actions[0]);
    all.ends.push_back(step.ends[0]);
  });
  return all;
}

RowLayout layout_of(std::int64_t max_greens) {
  return {.features = static_cast<std::int64_t>(scene::signal_features().size()),
          .max_greens = max_greens};
}

TEST(LightRow, ConvertsBackIntoTheSameObservation) {
  LightPolicy policy(kKind, 3);
  const auto episodes = simulate_episodes(policy, 2, 0, 1);
  const RowLayout layout = layout_of(6);
  const Pushed pushed = push_all(layout, episodes, {});
  std::vector<rollout::LightChoice> choices;
  std::vector<float> features;
  std::vector<std::int64_t> chosen;
  for (const EpisodeHistory& episode : episodes) {
    for (const LightHistory& light : episode.lights) {
      for (std::size_t i = 0; i < light.chosen.size(); ++i) {
        choices.push_back({.num_greens = light.greens[i], .present = light.present[i]});
        chosen.push_back(light.chosen[i]);
      }
      features.insert(features.end(), light.rows.begin(), light.rows.end());
    }
  }
  const LightBatch seen = light_batch(choices, features);
  std::vector<torch::Tensor> rows;
  for (const auto& row : pushed.rows) rows.push_back(torch::tensor(row));
  const LightBatch found = take_apart(layout, torch::stack(rows));
  EXPECT_TRUE(found.rows.equal(seen.rows));
  EXPECT_TRUE(found.present.equal(seen.present));
  EXPECT_TRUE(found.lights.ptr().equal(seen.lights.ptr()));
  EXPECT_EQ(pushed.chosen, chosen);
}

TEST(LightRow, ReturnsMatchTheDefinitionAndTheLastDecisionIsTruncated) {
  LightPolicy policy(kKind, 3);
  EpisodeHistory episode{.order = 0, .lights = {simulate_light(policy, 4, 9)}};
  LightHistory& light = episode.lights[0];
  light.reward = {1.0F, 2.0F, 4.0F, 100.0F};
  light.periods = {2, 1, 3, 1};
  const Pushed pushed = push_all(layout_of(4), {episode}, {.n_step = 2, .gamma = 0.5});
  EXPECT_FLOAT_EQ(pushed.returns[0][kReturn], 1.0F + 0.25F * 2.0F);
  EXPECT_FLOAT_EQ(pushed.returns[0][kDiscount], 0.125F);
  EXPECT_FLOAT_EQ(pushed.returns[1][kReturn], 2.0F + 0.5F * 4.0F);
  EXPECT_FLOAT_EQ(pushed.returns[1][kDiscount], 0.0625F);
  // The level is the standard deviation of the returns.
  const double mean = (1.5 + 4.0 + 16.5 + 100.0) / 4;
  const double squares = (1.5 * 1.5 + 4.0 * 4.0 + 16.5 * 16.5 + 100.0 * 100.0) / 4;
  for (const auto& of_decision : pushed.returns) {
    EXPECT_FLOAT_EQ(of_decision[kLevel], static_cast<float>(std::sqrt(squares - mean * mean)));
  }
  light.reward.assign(4, 0.0F);
  const Pushed quiet =
      push_all(layout_of(4), {episode}, {.n_step = 2, .gamma = 0.5, .least_level = 0.25});
  EXPECT_FLOAT_EQ(quiet.returns[0][kLevel], 0.25F);
  EXPECT_THAT(pushed.ends, ::testing::ElementsAre(replay::kGoesOn, replay::kGoesOn, replay::kGoesOn,
                                                  replay::kTruncated));
}

TEST(LightRow, TooManyGreensRaiseAnErrorThatNamesTheKey) {
  LightPolicy policy(kKind, 3);
  try {
    push_all(layout_of(2), simulate_episodes(policy, 2, 0, 1), {});
    FAIL() << "expected a DataError: a light has more than two greens";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("lights.max_greens"));
  }
}

config::Config replay_config() {
  config::Config config;
  config.training.iterations = 40;
  config::Lights& lights = config.lights;
  lights.max_greens = 4;
  auto& learning = config.extension<offpolicy::OffPolicy>();
  learning.buffer_size = 5'000;
  learning.learning_starts = 50;
  learning.batch_size = 64;
  learning.update_interval = 8;
  learning.n_step = 1;
  learning.gamma = 0.5;
  learning.learning_rate = 3e-3;
  learning.target_interval = 20;
  learning.epsilon = 0.5;
  learning.epsilon_speed = 0.9998;
  return config;
}

/// Mean reward of the policy without exploration.
double mean_reward_of_greedy(LightPolicy& policy) {
  LightPolicy best(policy.kind(), 0);
  for (std::size_t i = 0; i < policy.parameters().size(); ++i) {
    const torch::NoGradGuard no_grad;
    best.parameters()[i].second.copy_(policy.parameters()[i].second);
  }
  best.explore(0.0);
  constexpr int kDecisions = 200;
  double sum = 0.0;
  for (const float reward : simulate_light(best, kDecisions, 77).reward)
    sum += static_cast<double>(reward);
  return sum / kDecisions;
}

TEST(LightQLearner, LearnsToChooseTheGreenWithTheHighestReward) {
  test::AloneCommunicator alone;
  const config::Config config = replay_config();
  LightPolicy policy(kKind, 3, kFirstLogit);
  TimeSplit time_split;
  QLearner learner(config, policy, alone, time_split);
  std::int64_t decisions = 0;
  for (int iteration = 0; iteration < 40; ++iteration) {
    learner.begin_iteration(decisions);
    const auto learned = learner.learn(
        simulate_episodes(policy, 4, 0, 1, static_cast<std::uint64_t>(100 + iteration)), 4,
        iteration);
    decisions += learned->decisions;
  }
  // The maximum of two to four uniform numbers is 0.74 on average.
  EXPECT_GT(mean_reward_of_greedy(policy), 0.69);
}

TEST(LightQLearner, RanksKeepEqualParameters) {
  const auto communicator = comm::make_communicator(traffic::testing::mpi_session(), at::kCPU, {});
  const config::Config config = replay_config();
  LightPolicy policy(kKind, 3, kFirstLogit);
  TimeSplit time_split;
  QLearner learner(config, policy, *communicator, time_split);
  const torch::Tensor before = learner.parameters().flat().clone();
  for (int iteration = 0; iteration < 3; ++iteration) {
    ASSERT_TRUE(learner.learn(
        simulate_episodes(policy, 6, communicator->rank(), communicator->size()), 6, iteration));
  }
  EXPECT_FALSE(learner.parameters().flat().equal(before));
  EXPECT_NO_THROW(
      comm::check_replicas_equal(*communicator, learner.parameters().flat(), "parameters"));
}

TEST(LightPolicy, ExploringIsEpsilonGreedy) {
  LightPolicy policy(kKind, 3);
  const std::size_t columns = scene::signal_features().size();
  const rollout::LightChoice choice{.light = 0, .num_greens = 4, .present = 0};
  Rng rng(5);
  std::vector<float> rows(4 * columns);
  for (float& value : rows) value = static_cast<float>(rng.uniform());
  const LightBatch batch = policy.observe(std::span(&choice, 1), rows, {});
  const std::int32_t best = policy.decide(batch, {}).green[0];
  policy.explore(0.4);
  std::vector<int> counts(4);
  constexpr int kDraws = 20'000;
  for (int i = 0; i < kDraws; ++i) {
    std::vector<float> uniforms(4);
    for (float& value : uniforms) value = static_cast<float>(rng.uniform());
    ++counts[static_cast<std::size_t>(policy.decide(batch, uniforms).green[0])];
  }
  for (int green = 0; green < 4; ++green) {
    const double expected = green == best ? 0.7 : 0.1;
    const double deviation = std::sqrt(expected * (1 - expected) / kDraws);
    EXPECT_NEAR(static_cast<double>(counts[static_cast<std::size_t>(green)]) / kDraws, expected,
                5 * deviation);
  }
  EXPECT_EQ(policy.decide(batch, {}).green[0], best);
}

}  // namespace
}  // namespace traffic::train::lights
