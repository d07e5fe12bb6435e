/// Tests of the updates of the lights' policy by PPO. They run on 1, 2 and 3 ranks.
#include "train/lights/ppo_learner.h"

#include <gmock/gmock.h>
#include <torch/utils.h>

#include <limits>

#include "mpi_main.h"
#include "support/alone_communicator.h"
#include "traffic/core/error.h"
#include "traffic/core/random.h"
#include "train/lights/histories.h"

namespace traffic::train::lights {
namespace {

using testing::simulate_episodes;
using testing::simulate_light;
using testing::simulate_ring;
using testing::simulate_ring_episodes;

constexpr std::int64_t kEpisodes = 5;
constexpr LightKind kWithEncoder{.hidden_dim = 16, .encoder_layers = 1};
/// Torch uses one thread, as in a training.
[[maybe_unused]] const bool kOneThread = (torch::set_num_threads(1), true);

config::Config small_config() {
  config::Config config;
  config.training.iterations = 10;
  config.lights.ppo.num_epochs = 3;
  config.lights.ppo.minibatch_size = 32;
  config.lights.ppo.learning_rate = config.lights.ppo.final_learning_rate = 5e-3;
  config.lights.ppo.gamma = 0.9;
  config.lights.ppo.target_kl = 0;
  return config;
}

/// Mean reward of the policy's sampled choices.
double mean_reward(LightPolicy& policy, std::optional<float> traffic = {}) {
  constexpr int kDecisions = 200;
  double sum = 0.0;
  const LightHistory light = simulate_light(policy, kDecisions, 77, traffic);
  for (const float reward : light.reward) sum += static_cast<double>(reward);
  return sum / kDecisions;
}

TEST(LightExperience, LeavesOutTheLastDecisionOfEachLight) {
  LightPolicy policy({.hidden_dim = 8}, 3);
  test::AloneCommunicator alone;
  const auto episodes = simulate_episodes(policy, 2, 0, 1);
  const Experience whole = pack(episodes, 2, rl::RunningMeanStd(1), {}, alone);
  EXPECT_EQ(whole.total, 9 + 14 + 10 + 15);
  EXPECT_EQ(whole.chosen.size(0), whole.total);
  EXPECT_TRUE(whole.global_state.equal(torch::arange(whole.total)));
  EXPECT_TRUE(torch::allclose(whole.returns, whole.advantages + whole.values));
}

TEST(LightExperience, AdvantagesMatchTheDefinitionOfGae) {
  test::AloneCommunicator alone;
  LightPolicy policy({.hidden_dim = 8}, 3);
  EpisodeHistory episode{.order = 0, .lights = {simulate_light(policy, 3, 9)}};
  LightHistory& light = episode.lights[0];
  light.reward = {1.0F, 2.0F, 100.0F};
  light.value = {0.5F, 0.25F, 4.0F};
  light.periods = {2, 1, 1};
  const Experience experience =
      pack({episode}, 1, rl::RunningMeanStd(1), {.gamma = 0.5, .gae_lambda = 0.8}, alone);
  const double second = 2.0 + 0.5 * 4.0 - 0.25;
  const double first = 1.0 + 0.25 * 0.25 - 0.5 + 0.25 * 0.8 * second;  // two periods
  ASSERT_EQ(experience.advantages.size(0), 2);
  EXPECT_NEAR(experience.advantages[0].item<double>(), first, 1e-6);
  EXPECT_NEAR(experience.advantages[1].item<double>(), second, 1e-6);
}

TEST(LightLearner, SeveralRanksLearnTheSameAsOne) {
  const auto communicator = comm::make_communicator(traffic::testing::mpi_session(), at::kCPU, {});
  test::AloneCommunicator alone;
  const config::Config config = small_config();
  LightPolicy together_policy({.hidden_dim = 16}, 3);
  LightPolicy alone_policy({.hidden_dim = 16}, 3);
  PpoLearner together(config, together_policy, *communicator);
  PpoLearner joined(config, alone_policy, alone);
  for (int iteration = 0; iteration < 2; ++iteration) {
    // One policy makes all decisions, so that both learners learn from the same episodes.
    const auto mine =
        simulate_episodes(alone_policy, kEpisodes, communicator->rank(), communicator->size());
    const auto all = simulate_episodes(alone_policy, kEpisodes, 0, 1);
    ASSERT_TRUE(together.update(mine, kEpisodes, iteration));
    ASSERT_TRUE(joined.update(all, kEpisodes, iteration));
    // One rank and several ranks sum gradients in different orders, and the rounding errors grow
    // over about a dozen steps of Adam. In the second iteration, two values that differ only by
    // rounding may fall on different sides of a clip.
    const double tolerance = iteration == 0 ? 3e-5 : 2e-3;
    EXPECT_TRUE(
        torch::allclose(together.parameters().flat(), joined.parameters().flat(), 0, tolerance));
  }
}

/// Whether some weights of this parameter have no effect on any decision. This holds for the biases
/// of the keys and of the risk: they add the same number to the attention scores of all edges that
/// lead to a node. Their gradients are only rounding errors, which differ between the learners.
bool is_idle(const std::string& name) {
  return name.ends_with("risk_out.bias") || name.ends_with("qkv.bias");
}

TEST(LightLearner, SeveralRanksWithAnEncoderLearnTheSameAsOne) {
  const auto communicator = comm::make_communicator(traffic::testing::mpi_session(), at::kCPU, {});
  test::AloneCommunicator alone;
  const config::Config config = small_config();
  LightPolicy together_policy(kWithEncoder, 3);
  LightPolicy alone_policy(kWithEncoder, 3);
  PpoLearner together(config, together_policy, *communicator);
  PpoLearner joined(config, alone_policy, alone);
  const auto mine =
      simulate_ring_episodes(alone_policy, kEpisodes, communicator->rank(), communicator->size());
  const auto all = simulate_ring_episodes(alone_policy, kEpisodes, 0, 1);
  ASSERT_TRUE(together.update(mine, kEpisodes, 0));
  ASSERT_TRUE(joined.update(all, kEpisodes, 0));
  const auto expected = joined.parameters().parameters();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& [name, parameter] = together.parameters().parameters()[i];
    // Rounding errors of the different orders of summation grow over about a dozen steps of Adam.
    EXPECT_TRUE(is_idle(name) || torch::allclose(parameter, expected[i].second, 0, 1e-4)) << name;
  }
}

TEST(LightExperience, DecisionsOfAMomentFormOneState) {
  LightPolicy policy(kWithEncoder, 3);
  test::AloneCommunicator alone;
  const auto episodes = simulate_ring_episodes(policy, 2, 0, 1);
  const Experience whole = pack(episodes, 2, rl::RunningMeanStd(1), {}, alone);
  EXPECT_EQ(whole.total_states, 15 + 16);
  EXPECT_EQ(whole.states.count(), 15 + 16);
  EXPECT_EQ(whole.total, whole.chosen.size(0));
  EXPECT_TRUE(std::get<0>(whole.by_state.sort()).equal(torch::arange(whole.total)));
  const torch::Tensor states = torch::tensor({20L, 4L});
  const torch::Tensor decisions =
      whole.by_state.index_select(0, rl::select_segments(whole.states, states).rows);
  const Taken taken = take(whole, decisions);
  EXPECT_EQ(taken.batch.graph.num_nodes(), 2 * 3)
      << "the batch must contain the graph of each moment once";
  const LightTerms terms = policy.evaluate(taken.batch, taken.chosen);
  EXPECT_TRUE(torch::allclose(terms.log_prob, whole.log_prob.index_select(0, decisions)))
      << "learning must read the same observations as acting";
}

TEST(LightLearner, LearnsFromTheFeaturesOfANeighbour) {
  const config::Config config = small_config();
  test::AloneCommunicator alone;
  const auto mean_reward_after_learning = [&](const LightKind& kind) {
    LightPolicy policy(kind, 3);
    PpoLearner learner(config, policy, alone);
    for (int iteration = 0; iteration < 25; ++iteration) {
      auto episodes =
          simulate_ring_episodes(policy, 12, 0, 1, static_cast<std::uint64_t>(iteration));
      if (!policy.looks_around()) {
        for (EpisodeHistory& episode : episodes) episode.moments.clear();
      }
      EXPECT_TRUE(learner.update(episodes, 12, iteration));
    }
    double sum = 0.0;
    double decisions = 0.0;
    for (const LightHistory& light : simulate_ring(policy, 0, 100, 777).lights) {
      for (const float reward : light.reward) sum += static_cast<double>(reward);
      decisions += static_cast<double>(light.reward.size());
    }
    return sum / decisions;
  };
  EXPECT_LT(mean_reward_after_learning({.hidden_dim = 16}), 0.6)
      << "without the graph, the policy can only guess";
  EXPECT_GT(mean_reward_after_learning(kWithEncoder), 0.85);
}

TEST(LightLearner, LearnsToChooseTheGreenWithTheHighestReward) {
  const config::Config config = small_config();
  test::AloneCommunicator alone;
  LightPolicy policy({.hidden_dim = 16}, 3);
  PpoLearner learner(config, policy, alone);
  const double before = mean_reward(policy);
  for (int iteration = 0; iteration < 10; ++iteration) {
    const auto episodes =
        simulate_episodes(policy, 12, 0, 1, 100 + static_cast<std::uint64_t>(iteration));
    ASSERT_TRUE(learner.update(episodes, 12, iteration));
  }
  EXPECT_NEAR(before, 0.5, 0.05) << "the initial policy chooses at random";
  EXPECT_GT(mean_reward(policy), 0.65)
      << "the best of two to four greens has a reward of 0.74 on average";
}

TEST(LightLearner, LearnsFromQuietLightsBesideBusyOnes) {
  const config::Config config = small_config();
  test::AloneCommunicator alone;
  LightPolicy policy({.hidden_dim = 16}, 3);
  PpoLearner learner(config, policy, alone);
  constexpr float kQuiet = 0.1F;
  Rng rng(5);
  for (std::uint64_t iteration = 0; iteration < 20; ++iteration) {
    std::vector<EpisodeHistory> episodes;
    for (std::uint64_t order = 0; order < 12; ++order) {
      const std::uint64_t seed = derive_seed(iteration, {order});
      LightHistory quiet = simulate_light(policy, 20, seed, kQuiet);
      LightHistory busy = simulate_light(policy, 20, seed + 1, 1.0F);
      for (float& reward : quiet.reward) reward *= 0.1F;
      for (float& reward : busy.reward) reward = static_cast<float>(rng.uniform());  // noise
      episodes.push_back({.order = static_cast<std::int64_t>(order),
                          .lights = {std::move(quiet), std::move(busy)}});
    }
    ASSERT_TRUE(learner.update(episodes, 12, static_cast<std::int64_t>(iteration)));
  }
  EXPECT_GT(mean_reward(policy, kQuiet), 0.6);
}

TEST(LightLearner, ContinuesExactlyAfterARestore) {
  const config::Config config = small_config();
  test::AloneCommunicator alone;
  for (const LightKind& kind : {LightKind{.hidden_dim = 16}, kWithEncoder}) {
    const auto simulate = kind.encoder_layers > 0 ? simulate_ring_episodes : simulate_episodes;
    LightPolicy first_policy(kind, 3);
    LightPolicy second_policy(kind, 4);
    PpoLearner first(config, first_policy, alone);
    PpoLearner second(config, second_policy, alone);
    ASSERT_TRUE(first.update(simulate(first_policy, 3, 0, 1, 1), 3, 0));
    checkpoint::Snapshot snapshot(1);
    first.save_to(snapshot);
    second.restore_from(snapshot);
    const auto episodes = simulate(first_policy, 3, 0, 1, 8);
    for (auto* one : {&first, &second}) ASSERT_TRUE(one->update(episodes, 3, 1));
    EXPECT_TRUE(first.parameters().flat().equal(second.parameters().flat()));
    // The running means of the weights are in use while these objects live. They must be equal,
    // too.
    const WeightsInUse of_first = first.weights_in_use();
    const WeightsInUse of_second = second.weights_in_use();
    EXPECT_TRUE(first.parameters().flat().equal(second.parameters().flat()));
  }
}

TEST(LightLearner, NonFiniteGradientsNameTheLearningRateKey) {
  test::AloneCommunicator alone;
  LightPolicy policy({.hidden_dim = 16}, 3);
  PpoLearner learner(small_config(), policy, alone);
  auto episodes = simulate_episodes(policy, 3, 0, 1, 1);
  for (LightHistory& light : episodes.front().lights) {
    light.reward.front() = std::numeric_limits<float>::quiet_NaN();
  }
  try {
    for (std::int64_t iteration = 0; iteration < 10; ++iteration) {
      learner.update(episodes, 3, iteration);
    }
    FAIL()
        << "ten updates in a row without a finite gradient should have ended with a NumericError";
  } catch (const NumericError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("a lower lights.ppo.learning_rate"));
  }
}

TEST(LightLearner, WeightsInUseAreTheRunningMean) {
  const config::Config config = small_config();
  test::AloneCommunicator alone;
  LightPolicy policy({.hidden_dim = 16}, 3);
  PpoLearner learner(config, policy, alone);
  const auto weights = [&] { return learner.parameters().flat().detach().clone(); };
  const torch::Tensor start = weights();
  ASSERT_TRUE(learner.update(simulate_episodes(policy, 3, 0, 1, 1), 3, 0));
  const torch::Tensor first = weights();
  EXPECT_FALSE(first.equal(start));
  ASSERT_TRUE(learner.update(simulate_episodes(policy, 3, 0, 1, 2), 3, 1));
  const torch::Tensor second = weights();
  const torch::Tensor mean = 0.5 * (first + second);
  {
    const WeightsInUse in_use = learner.weights_in_use();
    EXPECT_TRUE(weights().allclose(mean, 1e-5, 1e-7));
  }
  EXPECT_TRUE(weights().equal(second)) << "learning must continue from the latest weights";
  checkpoint::Snapshot snapshot(1);
  learner.save_to(snapshot);
  LightPolicy saved({.hidden_dim = 16}, 4);
  PpoLearner(config, saved, alone).start_from(snapshot);
  const WeightsInUse in_use = learner.weights_in_use();
  const auto used = policy.parameters();
  const auto kept = saved.parameters();
  for (std::size_t i = 0; i < used.size(); ++i) EXPECT_TRUE(used[i].second.equal(kept[i].second));
}

}  // namespace
}  // namespace traffic::train::lights
