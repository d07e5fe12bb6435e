/// A task with the structure of the application: pick some candidates, command each, and get a
/// reward per conflict.
#include <gtest/gtest.h>
#include <torch/optim/adam.h>
#include <torch/optim/optimizer.h>

#include "helpers.h"
#include "support/uniforms.h"
#include "traffic/rl/advantages.h"
#include "traffic/rl/distributions.h"
#include "traffic/rl/minibatch.h"
#include "traffic/rl/plackett_luce.h"
#include "traffic/rl/ppo_loss.h"
#include "traffic/rl/running_mean_std.h"

namespace traffic::rl {
namespace {

using test::draw_uniforms;
using testing::count_terms;
using testing::i64;

constexpr std::int64_t kConflicts = 2;
constexpr std::int64_t kTypes = 4;  ///< types of candidates
constexpr std::int64_t kActions = 3;
constexpr std::int64_t kNone = 2;  ///< the action that does nothing
constexpr float kOwnCost = 0.2F;

/// Effect of a command to a candidate on its conflict. Types 0 and 1 benefit from their own command
/// and suffer from the other. Types 2 and 3 have no effect, so commanding them only costs.
double effect_of(std::int64_t type, std::int64_t action) {
  if (type >= 2 || action == kNone) return 0.0;
  return action == type ? 1.0 : -1.0;
}

/// States with 0 to 4 candidates at each of two conflicts, in segments (state, conflict). One
/// candidate per segment may be picked.
struct States {
  Segments segments;
  torch::Tensor type;  ///< [M]

  States(std::int64_t count, Rng& rng) : segments(i64({0})) {
    std::vector<std::int64_t> ptr{0};
    std::vector<std::int64_t> types;
    for (std::int64_t s = 0; s < count * kConflicts; ++s) {
      ptr.push_back(ptr.back() + static_cast<std::int64_t>(rng.uniform_int(5)));
      while (static_cast<std::int64_t>(types.size()) < ptr.back()) {
        types.push_back(static_cast<std::int64_t>(rng.uniform_int(kTypes)));
      }
    }
    segments = Segments(i64(ptr));
    type = i64(types);
  }
};

/// The policy has one score and one row of logits per type; the value is linear in the types
/// present.
struct Policy {
  torch::Tensor scores = torch::zeros({kTypes}).requires_grad_();
  torch::Tensor logits = torch::zeros({kTypes, kActions}).requires_grad_();
  torch::Tensor weights = torch::zeros({kTypes}).requires_grad_();

  [[nodiscard]] PlackettLuce selection(const torch::Tensor& type, const Segments& at) const {
    return {scores.index_select(0, type), at};
  }
  [[nodiscard]] Categorical command(const torch::Tensor& type) const {
    return Categorical(logits.index_select(0, type));
  }
  [[nodiscard]] torch::Tensor value(const torch::Tensor& type, const Segments& at) const {
    return at.sum(weights.index_select(0, type)).view({-1, kConflicts});
  }
};

/// The picked candidates of some segments.
struct Picked {
  torch::Tensor segment;  ///< [D]
  torch::Tensor type;     ///< [D]

  Picked(const torch::Tensor& picks, const Segments& at, const torch::Tensor& types)
      : segment((picks.select(1, 0) >= 0).nonzero().squeeze(1)),
        type(types.index_select(0, (at.starts() + picks.select(1, 0)).index_select(0, segment))) {}
};

struct Outcome {
  torch::Tensor rewards;  ///< [S, C]
  torch::Tensor costs;    ///< [D]
};

Outcome play(const Picked& picked, const torch::Tensor& actions, std::int64_t segments) {
  Outcome out{torch::zeros({segments}), torch::zeros({actions.numel()})};
  const auto action = actions.accessor<std::int64_t, 1>();
  const auto type = picked.type.accessor<std::int64_t, 1>();
  const auto segment = picked.segment.accessor<std::int64_t, 1>();
  auto reward = out.rewards.accessor<float, 1>();
  auto cost = out.costs.accessor<float, 1>();
  for (std::int64_t d = 0; d < actions.numel(); ++d) {
    reward[segment[d]] += static_cast<float>(effect_of(type[d], action[d]));
    cost[d] = action[d] == kNone ? 0.F : kOwnCost;
  }
  out.rewards = out.rewards.view({-1, kConflicts});
  return out;
}

void iterate(Policy& policy, RunningMeanStd& value_scale, torch::optim::Optimizer& optimizer,
             Rng& rng) {
  const States states(128, rng);
  const Segments& all = states.segments;
  const PlackettLuce selection = policy.selection(states.type, all);
  const torch::Tensor picks = selection.sample(draw_uniforms(rng, {all.rows()}), 1);
  const Picked picked(picks, all, states.type);
  const Categorical command = policy.command(picked.type);
  const torch::Tensor actions = command.sample(draw_uniforms(rng, {picked.type.numel(), kActions}));
  const Outcome outcome = play(picked, actions, all.count());

  const torch::Tensor old_log_prob = command.log_prob(actions).detach();
  const torch::Tensor old_selection = selection.log_prob(picks).detach();
  const torch::Tensor old_values = policy.value(states.type, all).detach();
  const torch::Tensor advantages = outcome.rewards - value_scale.restore(old_values);
  value_scale.update(moments_of(outcome.rewards, kConflicts));
  const torch::Tensor returns = value_scale.standardise(outcome.rewards);
  const Scale scale = scale_of(moments_of(advantages, kConflicts));
  const auto advantages_of = [&](const torch::Tensor& segment, const torch::Tensor& cost) {
    return decision_advantages({.advantages = advantages,
                                .state = segment.div(kConflicts, "floor"),
                                .conflict = segment.remainder(kConflicts),
                                .own_cost = cost},
                               scale);
  };
  const torch::Tensor of_decisions = advantages_of(picked.segment, outcome.costs);
  const torch::Tensor selection_cost =
      torch::zeros({all.count()}).index_add(0, picked.segment, outcome.costs);
  const torch::Tensor of_selections = advantages_of(torch::arange(all.count()), selection_cost);
  // Maps decisions to segments, to find them in a minibatch.
  const torch::Tensor decided =
      torch::zeros({all.count()}, torch::kInt64).index_fill(0, picked.segment, 1);
  const Segments decisions(torch::cat({i64({0}), decided.cumsum(0)}));

  for (const torch::Tensor& rows : permuted_minibatches(128, 2, rng.next_u64())) {
    const torch::Tensor both = torch::stack({rows * 2, rows * 2 + 1}, 1).flatten();
    const auto [at, candidates] = select_segments(all, both);
    const torch::Tensor mine = select_segments(decisions, both).rows;
    const torch::Tensor type = states.type.index_select(0, candidates);
    const PlackettLuce now = policy.selection(type, at);
    const Categorical command_now = policy.command(picked.type.index_select(0, mine));
    const PpoLossInputs in{
        .decisions = {.log_prob = command_now.log_prob(actions.index_select(0, mine)),
                      .old_log_prob = old_log_prob.index_select(0, mine),
                      .advantages = of_decisions.index_select(0, mine),
                      .entropy = command_now.entropy()},
        .selections = {.log_prob = now.log_prob(picks.index_select(0, both)),
                       .old_log_prob = old_selection.index_select(0, both),
                       .advantages = of_selections.index_select(0, both),
                       .entropy = now.entropy(),
                       .mask = at.sizes() > 1},
        .values = {.values = policy.value(type, at),
                   .old_values = old_values.index_select(0, rows),
                   .returns = returns.index_select(0, rows)}};
    optimizer.zero_grad();
    ppo_loss(in, count_terms(in), {.ent_coef = 0.002}).loss.backward();
    optimizer.step();
  }
}

TEST(Ppo, LearnsPicksCommandsAndWhenToDoNothing) {
  Policy policy;
  RunningMeanStd value_scale(kConflicts);
  torch::optim::Adam optimizer({policy.scores, policy.logits, policy.weights}, 0.05);
  Rng rng(5);
  for (int iteration = 0; iteration < 80; ++iteration) {
    iterate(policy, value_scale, optimizer, rng);
  }

  EXPECT_TRUE(torch::equal(policy.command(torch::arange(kTypes)).greedy(), i64({0, 1, 2, 2})));
  const torch::Tensor scores = policy.scores.detach();
  EXPECT_GT(scores.slice(0, 0, 2).min().item<double>(), scores.slice(0, 2, 4).max().item<double>());

  const States fresh(200, rng);
  const torch::Tensor picks = policy.selection(fresh.type, fresh.segments).greedy(1);
  const Picked picked(picks, fresh.segments, fresh.type);
  const torch::Tensor actions = policy.command(picked.type).greedy();
  const Outcome outcome = play(picked, actions, fresh.segments.count());
  const torch::Tensor matters = (fresh.type < 2).to(torch::kFloat32);
  const torch::Tensor best = (fresh.segments.sum(matters) > 0).to(torch::kFloat32);
  EXPECT_TRUE(torch::equal(outcome.rewards.flatten(), best));  // greedy is optimal in every state
}

}  // namespace
}  // namespace traffic::rl
