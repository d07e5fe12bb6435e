/// Whole training loops on tasks with a known best policy, with this module alone.
#include <gtest/gtest.h>
#include <torch/optim/adam.h>

#include <cmath>

#include "helpers.h"
#include "support/uniforms.h"
#include "traffic/rl/advantages.h"
#include "traffic/rl/distributions.h"
#include "traffic/rl/gae.h"
#include "traffic/rl/minibatch.h"
#include "traffic/rl/ppo_loss.h"
#include "traffic/rl/ppo_statistics.h"
#include "traffic/rl/running_mean_std.h"

namespace traffic::rl {
namespace {

using test::draw_uniforms;
using testing::count_terms;

/// Five places in a row. Reaching the last place ends the episode with reward 1; every
/// step costs .02; after eight steps the episode is truncated.
class Chain {
 public:
  static constexpr std::int64_t kPlaces = 5;
  struct Step {
    float reward;
    bool terminated;
    bool truncated;
    std::int64_t next_place;  ///< before the reset
  };
  [[nodiscard]] std::int64_t place() const { return place_; }
  Step step(bool right) {
    const std::int64_t next = right ? place_ + 1 : std::max<std::int64_t>(place_ - 1, 0);
    const bool terminated = next == kPlaces - 1;
    const bool truncated = ++steps_ == 8 && !terminated;
    place_ = next;
    if (terminated || truncated) place_ = steps_ = 0;
    return {terminated ? 0.98F : -0.02F, terminated, truncated, next};
  }

 private:
  std::int64_t place_ = 0;
  std::int64_t steps_ = 0;
};

/// A policy that is a table instead of a network, and the data of its rollout.
struct ChainTrainer {
  static constexpr std::int64_t kSteps = 32;
  static constexpr std::int64_t kEnvs = 8;
  torch::Tensor logits = torch::zeros({Chain::kPlaces, 2}).requires_grad_();
  torch::Tensor values = torch::zeros({Chain::kPlaces}).requires_grad_();
  torch::optim::Adam optimizer{{logits, values}, 0.05};
  RunningMeanStd value_scale{1};
  Rng rng{3};
  std::vector<Chain> envs{kEnvs};

  torch::Tensor place = torch::zeros({kSteps, kEnvs}, torch::kInt64);
  torch::Tensor next_place = torch::zeros({kSteps, kEnvs}, torch::kInt64);
  torch::Tensor action = torch::zeros({kSteps, kEnvs}, torch::kInt64);
  GaeInputs rollout{.rewards = torch::zeros({kSteps, kEnvs}),
                    .values = {},
                    .next_values = {},
                    .terminated = torch::zeros({kSteps, kEnvs}, torch::kBool),
                    .truncated = torch::zeros({kSteps, kEnvs}, torch::kBool)};

  torch::Tensor of_places(const torch::Tensor& table, const torch::Tensor& at) const {
    return table.index_select(0, at.flatten());
  }

  void collect() {
    auto at = place.accessor<std::int64_t, 2>();
    auto next_at = next_place.accessor<std::int64_t, 2>();
    auto reward = rollout.rewards.accessor<float, 2>();
    auto terminated = rollout.terminated.accessor<bool, 2>();
    auto truncated = rollout.truncated.accessor<bool, 2>();
    for (std::int64_t t = 0; t < kSteps; ++t) {
      for (std::int64_t b = 0; b < kEnvs; ++b) at[t][b] = envs[static_cast<std::size_t>(b)].place();
      const Categorical policy(of_places(logits, place[t]));
      const torch::Tensor actions = policy.sample(draw_uniforms(rng, {kEnvs, 2}));
      action[t] = actions;
      for (std::int64_t b = 0; b < kEnvs; ++b) {
        const bool right = actions.const_data_ptr<std::int64_t>()[b] == 1;
        const Chain::Step step = envs[static_cast<std::size_t>(b)].step(right);
        reward[t][b] = step.reward;
        terminated[t][b] = step.terminated;
        truncated[t][b] = step.truncated;
        next_at[t][b] = step.next_place;
      }
    }
  }

  void iterate(std::uint64_t iteration) {
    collect();
    const torch::Tensor states = place.flatten();
    const torch::Tensor old_log_prob =
        Categorical(of_places(logits, states)).log_prob(action.flatten()).detach();
    const torch::Tensor old_values = of_places(values, states).detach();
    rollout.values = value_scale.restore(old_values).view_as(place);
    rollout.next_values =
        value_scale.restore(of_places(values, next_place).detach()).view_as(place);
    const torch::Tensor advantages = gae(rollout, 0.95, 0.9);
    const torch::Tensor returns = (advantages + rollout.values).flatten();
    value_scale.update(moments_of(returns, 1));
    const torch::Tensor of_decisions = decision_advantages(
        {.advantages = advantages.view({-1, 1}), .state = torch::arange(states.numel())},
        scale_of(moments_of(advantages, 1)));

    for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
      torch::Tensor sums = torch::zeros({kNumPpoSums}, torch::kFloat64);
      for (const torch::Tensor& rows :
           permuted_minibatches(states.numel(), count_minibatches(states.numel(), 64),
                                derive_seed(3, {iteration, epoch}))) {
        const torch::Tensor at = states.index_select(0, rows);
        const Categorical policy(of_places(logits, at));
        const PpoLossInputs in{
            .decisions = {.log_prob = policy.log_prob(action.flatten().index_select(0, rows)),
                          .old_log_prob = old_log_prob.index_select(0, rows),
                          .advantages = of_decisions.index_select(0, rows),
                          .entropy = policy.entropy()},
            .values = {.values = of_places(values, at),
                       .old_values = old_values.index_select(0, rows),
                       .returns = value_scale.standardise(returns.index_select(0, rows))}};
        const PpoLoss out = ppo_loss(in, count_terms(in), {.ent_coef = 0.002});
        optimizer.zero_grad();
        out.loss.backward();
        optimizer.step();
        sums += out.sums;
      }
      if (is_kl_over(ppo_statistics(sums).approx_kl, 0.05)) break;
    }
  }
};

TEST(Ppo, LearnsAChainWhoseEpisodesAreOftenTruncated) {
  ChainTrainer trainer;
  for (std::uint64_t iteration = 0; iteration < 40; ++iteration) trainer.iterate(iteration);
  const torch::Tensor right = trainer.logits.detach().softmax(1).select(1, 1);
  for (std::int64_t place = 0; place < Chain::kPlaces - 1; ++place) {
    EXPECT_GT(right[place].item<double>(), 0.9) << "at place " << place;
  }
  const torch::Tensor values = trainer.value_scale.restore(trainer.values.detach());
  double best = 0.98;  // value of the best policy, from the goal backwards
  for (std::int64_t place = Chain::kPlaces - 2; place >= 0; --place) {
    // The policy goes left in up to a tenth of its steps, and each such step costs up to two steps
    // (one to the left, one back).
    EXPECT_NEAR(values[place].item<double>(), best, 0.1) << "at place " << place;
    best = 0.95 * best - 0.02;
  }
}

TEST(Ppo, TruncationsDoNotLowerTheValueOfAnEndlessTask) {
  // Every step gives a reward of 1, for ever, so the value is 1 / (1 - .9) = 10. The episode is
  // truncated every five steps. If these ends
  // counted as terminations, the value would be at most 4.1.
  torch::Tensor value = torch::zeros({1}).requires_grad_();
  torch::optim::Adam optimizer({value}, 0.1);
  RunningMeanStd scale(1);
  GaeInputs in{.rewards = torch::ones({10, 1}),
               .values = {},
               .next_values = {},
               .terminated = torch::zeros({10, 1}, torch::kBool),
               .truncated = torch::zeros({10, 1}, torch::kBool)};
  in.truncated[4][0] = true;
  in.truncated[9][0] = true;
  for (int iteration = 0; iteration < 100; ++iteration) {
    const torch::Tensor old_values = value.detach().expand({10}).clone();
    in.values = scale.restore(old_values).view({10, 1});
    in.next_values = in.values;
    const torch::Tensor returns = (gae(in, 0.9, 0.95) + in.values).flatten();
    scale.update(moments_of(returns, 1));
    for (int epoch = 0; epoch < 4; ++epoch) {
      const ValueTerms terms{.values = value.expand({10}),
                             .old_values = old_values,
                             .returns = scale.standardise(returns)};
      optimizer.zero_grad();
      (value_loss_sum(terms, 10.0) / 10.0).backward();
      optimizer.step();
    }
  }
  EXPECT_NEAR(scale.restore(value.detach()).item<double>(), 10.0, 0.5);
}

}  // namespace
}  // namespace traffic::rl
