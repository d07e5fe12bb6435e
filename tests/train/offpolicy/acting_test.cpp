#include "train/offpolicy/acting.h"

#include <gmock/gmock.h>
#include <torch/utils.h>

#include <cmath>

namespace traffic::train::offpolicy {
namespace {

/// A network whose outputs do not depend on the observation. The first output is 0, and the scores
/// of four actions follow.
ActingNetwork network_with(const std::vector<float>& scores) {
  ActingNetwork acting{
      .network = model::Mlp(model::MlpShape{.inputs = 3, .hidden = {}, .outputs = 5}),
      .first_score = 1};
  const torch::NoGradGuard no_grad;
  acting.network->parameters()[0].zero_();
  acting.network->parameters()[1].zero_();
  acting.network->parameters()[1].slice(0, 1).copy_(torch::tensor(scores));
  return acting;
}

constexpr std::int64_t kRows = 20'000;

std::vector<double> shares(const std::vector<std::uint8_t>& actions) {
  std::vector<double> all(4);
  for (const std::uint8_t action : actions) all[action] += 1.0 / static_cast<double>(kRows);
  return all;
}

/// Checks how often each action was taken. The tolerance is five standard deviations of a share in
/// 20,000 draws, which are at most 0.0036.
void expect_shares(const std::vector<std::uint8_t>& actions, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(shares(actions)[i], expected[i], 0.018) << i;
}

TEST(Acting, TakesTheActionOfTheHighestScore) {
  ActingNetwork acting = network_with({-1.0F, 2.0F, 1.5F, 0.0F});
  std::vector<std::uint8_t> actions(7);
  choose_best(acting, torch::randn({7, 3}), actions);
  EXPECT_THAT(actions, ::testing::Each(1));
  choose_best(acting, torch::randn({0, 3}), {});
}

TEST(Acting, ExploresAsOftenAsEpsilonSays) {
  ActingNetwork acting = network_with({-1.0F, 2.0F, 1.5F, 0.0F});
  std::vector<std::uint8_t> actions(kRows);
  Rng rng(3);
  explore(acting, torch::zeros({kRows, 3}), {.epsilon = 0.4}, rng, actions, {});
  expect_shares(actions, {0.1, 0.7, 0.1, 0.1});
}

TEST(Acting, DrawsFromTheSoftmaxAndReturnsItsWeights) {
  ActingNetwork acting =
      network_with({std::log(1.0F), std::log(2.0F), std::log(3.0F), std::log(4.0F)});
  std::vector<std::uint8_t> actions(kRows);
  std::vector<float> vectors(4 * kRows);
  Rng rng(4);
  explore(acting, torch::zeros({kRows, 3}), {.epsilon = 0.0, .samples = true}, rng, actions,
          vectors);
  expect_shares(actions, {0.1, 0.2, 0.3, 0.4});
  EXPECT_NEAR(vectors[4 * 17 + 2], 0.3F, 1e-6F);
  explore(acting, torch::zeros({kRows, 3}), {.epsilon = 1.0, .samples = true}, rng, actions,
          vectors);
  expect_shares(actions, {0.25, 0.25, 0.25, 0.25});
  double sum = 0.0;
  for (const float number : vectors) sum += static_cast<double>(number);
  EXPECT_NEAR(sum / static_cast<double>(vectors.size()), 0.5, 0.01);  // uniform in [0, 1)
}

}  // namespace
}  // namespace traffic::train::offpolicy
