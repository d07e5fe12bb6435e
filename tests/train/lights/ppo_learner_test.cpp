/// Runs on 1, 2 and 3 ranks.
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

using testing::live;
using testing::live_around;
using testing::live_episodes;
using testing::live_episodes_around;

constexpr std::int64_t kEpisodes = 5;
constexpr LightKind kLooksAround{.hidden_dim = 16, .encoder_layers = 1};
/// As in the training.
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

/// What its choices are worth in the mean.
double worth(LightPolicy& policy, std::optional<float> traffic = {}) {
  constexpr int kDecisions = 200;
  double sum = 0.0;
  const LightHistory light = live(policy, kDecisions, 77, traffic);
  for (const float reward : light.reward) sum += static_cast<double>(reward);
  return sum / kDecisions;
}

TEST(LightExperience, LeavesOutTheLastDecisionOfALightAndPutsTheOthersInOneOrder) {
  LightPolicy policy({.hidden_dim = 8}, 3);
  test::AloneCommunicator alone;
  const auto episodes = live_episodes(policy, 2, 0, 1);
  const Experience whole = pack(episodes, 2, rl::RunningMeanStd(1), {}, alone);
  EXPECT_EQ(whole.total, 9 + 14 + 10 + 15);
  EXPECT_EQ(whole.chosen.size(0), whole.total);
  EXPECT_TRUE(whole.global_state.equal(torch::arange(whole.total)));
  EXPECT_TRUE(torch::allclose(whole.returns, whole.advantages + whole.values));
}

TEST(LightExperience, TheAdvantageIsThatOfTheTextbook) {
  test::AloneCommunicator alone;
  LightPolicy policy({.hidden_dim = 8}, 3);
  EpisodeHistory episode{.order = 0, .lights = {live(policy, 3, 9)}};
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

TEST(LightLearner, RanksTogetherLearnWhatOneLearnsFromAllEpisodes) {
  const auto communicator = comm::make_communicator(traffic::testing::mpi_session(), at::kCPU, {});
  test::AloneCommunicator alone;
  const config::Config config = small_config();
  LightPolicy together_policy({.hidden_dim = 16}, 3);
  LightPolicy alone_policy({.hidden_dim = 16}, 3);
  PpoLearner together(config, together_policy, *communicator);
  PpoLearner joined(config, alone_policy, alone);
  for (int iteration = 0; iteration < 2; ++iteration) {
    // Both have lived through the same: what the policy of one alone decided.
    const auto mine =
        live_episodes(alone_policy, kEpisodes, communicator->rank(), communicator->size());
    const auto all = live_episodes(alone_policy, kEpisodes, 0, 1);
    ASSERT_TRUE(together.update(mine, kEpisodes, iteration));
    ASSERT_TRUE(joined.update(all, kEpisodes, iteration));
    // Sums in another order, through a dozen steps of Adam. What differs by rounding when the
    // second iteration begins may fall on either side of a clip.
    const double tolerance = iteration == 0 ? 3e-5 : 2e-3;
    EXPECT_TRUE(
        torch::allclose(together.parameters().flat(), joined.parameters().flat(), 0, tolerance));
  }
}

/// Weights that no decision depends on, which rounding alone moves: what all in-edges of a node
/// have in common.
bool is_idle(const std::string& name) {
  return name.ends_with("risk_out.bias") || name.ends_with("qkv.bias");
}

TEST(LightLearner, RanksTogetherLearnLikewiseWhatIsSeenOfOtherLights) {
  const auto communicator = comm::make_communicator(traffic::testing::mpi_session(), at::kCPU, {});
  test::AloneCommunicator alone;
  const config::Config config = small_config();
  LightPolicy together_policy(kLooksAround, 3);
  LightPolicy alone_policy(kLooksAround, 3);
  PpoLearner together(config, together_policy, *communicator);
  PpoLearner joined(config, alone_policy, alone);
  const auto mine =
      live_episodes_around(alone_policy, kEpisodes, communicator->rank(), communicator->size());
  const auto all = live_episodes_around(alone_policy, kEpisodes, 0, 1);
  ASSERT_TRUE(together.update(mine, kEpisodes, 0));
  ASSERT_TRUE(joined.update(all, kEpisodes, 0));
  const auto expected = joined.parameters().parameters();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& [name, parameter] = together.parameters().parameters()[i];
    // Sums in another order, through a dozen steps of Adam.
    EXPECT_TRUE(is_idle(name) || torch::allclose(parameter, expected[i].second, 0, 1e-4)) << name;
  }
}

TEST(LightExperience, DecisionsOfAMomentGoThroughAStepTogether) {
  LightPolicy policy(kLooksAround, 3);
  test::AloneCommunicator alone;
  const auto episodes = live_episodes_around(policy, 2, 0, 1);
  const Experience whole = pack(episodes, 2, rl::RunningMeanStd(1), {}, alone);
  EXPECT_EQ(whole.total_states, 15 + 16);
  EXPECT_EQ(whole.states.count(), 15 + 16);
  EXPECT_EQ(whole.total, whole.chosen.size(0));
  EXPECT_TRUE(std::get<0>(whole.by_state.sort()).equal(torch::arange(whole.total)));
  const torch::Tensor states = torch::tensor({20L, 4L});
  const torch::Tensor decisions =
      whole.by_state.index_select(0, rl::select_segments(whole.states, states).rows);
  const Taken taken = take(whole, decisions);
  EXPECT_EQ(taken.batch.graph.num_nodes(), 2 * 3) << "each graph once";
  const LightTerms terms = policy.evaluate(taken.batch, taken.chosen);
  EXPECT_TRUE(torch::allclose(terms.log_prob, whole.log_prob.index_select(0, decisions)))
      << "what was seen is what is learned from";
}

TEST(LightLearner, LearnsFromWhatOnlyAnotherLightKnows) {
  const config::Config config = small_config();
  test::AloneCommunicator alone;
  const auto worth_after_learning = [&](const LightKind& kind) {
    LightPolicy policy(kind, 3);
    PpoLearner learner(config, policy, alone);
    for (int iteration = 0; iteration < 25; ++iteration) {
      auto episodes = live_episodes_around(policy, 12, 0, 1, static_cast<std::uint64_t>(iteration));
      if (!policy.looks_around()) {
        for (EpisodeHistory& episode : episodes) episode.moments.clear();
      }
      EXPECT_TRUE(learner.update(episodes, 12, iteration));
    }
    double sum = 0.0;
    double decisions = 0.0;
    for (const LightHistory& light : live_around(policy, 0, 100, 777).lights) {
      for (const float reward : light.reward) sum += static_cast<double>(reward);
      decisions += static_cast<double>(light.reward.size());
    }
    return sum / decisions;
  };
  EXPECT_LT(worth_after_learning({.hidden_dim = 16}), 0.6) << "a guess";
  EXPECT_GT(worth_after_learning(kLooksAround), 0.85);
}

TEST(LightLearner, FindsTheGreenThatIsWorthMost) {
  const config::Config config = small_config();
  test::AloneCommunicator alone;
  LightPolicy policy({.hidden_dim = 16}, 3);
  PpoLearner learner(config, policy, alone);
  const double before = worth(policy);
  for (int iteration = 0; iteration < 10; ++iteration) {
    const auto episodes =
        live_episodes(policy, 12, 0, 1, 100 + static_cast<std::uint64_t>(iteration));
    ASSERT_TRUE(learner.update(episodes, 12, iteration));
  }
  EXPECT_NEAR(before, 0.5, 0.05) << "any of them";
  EXPECT_GT(worth(policy), 0.65) << "the best of two to four is worth 0.73";
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
      LightHistory quiet = live(policy, 20, seed, kQuiet);
      LightHistory busy = live(policy, 20, seed + 1, 1.0F);
      for (float& reward : quiet.reward) reward *= 0.1F;
      for (float& reward : busy.reward) reward = static_cast<float>(rng.uniform());  // by chance
      episodes.push_back({.order = static_cast<std::int64_t>(order),
                          .lights = {std::move(quiet), std::move(busy)}});
    }
    ASSERT_TRUE(learner.update(episodes, 12, static_cast<std::int64_t>(iteration)));
  }
  EXPECT_GT(worth(policy, kQuiet), 0.6);
}

TEST(LightLearner, GoesOnFromWhatItSaved) {
  const config::Config config = small_config();
  test::AloneCommunicator alone;
  for (const LightKind& kind : {LightKind{.hidden_dim = 16}, kLooksAround}) {
    const auto live_with = kind.encoder_layers > 0 ? live_episodes_around : live_episodes;
    LightPolicy first_policy(kind, 3);
    LightPolicy second_policy(kind, 4);
    PpoLearner first(config, first_policy, alone);
    PpoLearner second(config, second_policy, alone);
    ASSERT_TRUE(first.update(live_with(first_policy, 3, 0, 1, 1), 3, 0));
    checkpoint::Snapshot snapshot(1);
    first.save_to(snapshot);
    second.restore_from(snapshot);
    const auto episodes = live_with(first_policy, 3, 0, 1, 8);
    for (auto* one : {&first, &second}) ASSERT_TRUE(one->update(episodes, 3, 1));
    EXPECT_TRUE(first.parameters().flat().equal(second.parameters().flat()));
    const WeightsInUse of_first = first.weights_in_use();
    const WeightsInUse of_second = second.weights_in_use();
    EXPECT_TRUE(first.parameters().flat().equal(second.parameters().flat()));
  }
}

TEST(LightLearner, GradientsThatAreNotFiniteNameTheKeyOfItsLearningRate) {
  test::AloneCommunicator alone;
  LightPolicy policy({.hidden_dim = 16}, 3);
  PpoLearner learner(small_config(), policy, alone);
  auto episodes = live_episodes(policy, 3, 0, 1, 1);
  for (LightHistory& light : episodes.front().lights) {
    light.reward.front() = std::numeric_limits<float>::quiet_NaN();
  }
  try {
    for (std::int64_t iteration = 0; iteration < 10; ++iteration) {
      learner.update(episodes, 3, iteration);
    }
    FAIL() << "ten updates in a row have no finite gradient";
  } catch (const NumericError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("a lower lights.ppo.learning_rate"));
  }
}

TEST(LightLearner, IsUsedWithTheRunningMeanOfItsWeights) {
  const config::Config config = small_config();
  test::AloneCommunicator alone;
  LightPolicy policy({.hidden_dim = 16}, 3);
  PpoLearner learner(config, policy, alone);
  const auto weights = [&] { return learner.parameters().flat().detach().clone(); };
  const torch::Tensor start = weights();
  ASSERT_TRUE(learner.update(live_episodes(policy, 3, 0, 1, 1), 3, 0));
  const torch::Tensor first = weights();
  EXPECT_FALSE(first.equal(start));
  ASSERT_TRUE(learner.update(live_episodes(policy, 3, 0, 1, 2), 3, 1));
  const torch::Tensor second = weights();
  const torch::Tensor mean = 0.5 * (first + second);
  {
    const WeightsInUse in_use = learner.weights_in_use();
    EXPECT_TRUE(weights().allclose(mean, 1e-5, 1e-7));
  }
  EXPECT_TRUE(weights().equal(second)) << "learning goes on from its own";
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
