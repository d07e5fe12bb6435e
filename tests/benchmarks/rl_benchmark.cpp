/// Measures how long an iteration of phase 2 computes in the module rl. The iteration has 200 steps
/// of 20 environments with four conflicts. Its minibatches have 128 states with 20 candidates each,
/// five of which are picked.
#include <benchmark/benchmark.h>
#include <torch/types.h>
#include <torch/utils.h>

#include "traffic/rl/distributions.h"
#include "traffic/rl/gae.h"
#include "traffic/rl/plackett_luce.h"
#include "traffic/rl/ppo_loss.h"

namespace traffic::rl {
namespace {

constexpr std::int64_t kStates = 128;
constexpr std::int64_t kCandidates = 20;
constexpr std::int64_t kTopK = 5;
constexpr std::int64_t kActions = 5;
constexpr std::int64_t kConflicts = 4;

void gae_of_a_rollout(benchmark::State& state) {
  const torch::Tensor x = torch::randn({200, 20, kConflicts});
  const torch::Tensor never = torch::zeros({200, 20}, torch::kBool);
  const GaeInputs in{
      .rewards = x, .values = x, .next_values = x, .terminated = never, .truncated = never};
  for (auto _ : state) benchmark::DoNotOptimize(gae(in, 0.99, 0.95));
}
BENCHMARK(gae_of_a_rollout)->Unit(benchmark::kMicrosecond);

Segments minibatch_segments() { return Segments(torch::arange(kStates + 1) * kCandidates); }

void plackett_luce_sample(benchmark::State& state) {
  const PlackettLuce selection(torch::randn({kStates * kCandidates}), minibatch_segments());
  const torch::Tensor uniforms = torch::rand({kStates * kCandidates});
  for (auto _ : state) benchmark::DoNotOptimize(selection.sample(uniforms, kTopK));
}
BENCHMARK(plackett_luce_sample)->Unit(benchmark::kMicrosecond);

void plackett_luce_log_prob_and_backward(benchmark::State& state) {
  const torch::Tensor scores = torch::randn({kStates * kCandidates}).requires_grad_();
  const Segments segments = minibatch_segments();
  const torch::Tensor picks = PlackettLuce(scores, segments).greedy(kTopK);
  for (auto _ : state) {
    const PlackettLuce selection(scores, segments);
    (selection.log_prob(picks).sum() + selection.entropy().sum()).backward();
  }
}
BENCHMARK(plackett_luce_log_prob_and_backward)->Unit(benchmark::kMicrosecond);

/// A policy update without the model: from scores, logits and values to their gradients.
void minibatch_loss_and_backward(benchmark::State& state) {
  const Segments segments = minibatch_segments();
  const torch::Tensor scores = torch::randn({kStates * kCandidates}).requires_grad_();
  const torch::Tensor logits = torch::randn({kStates * kTopK, kActions}).requires_grad_();
  const torch::Tensor values = torch::randn({kStates, kConflicts}).requires_grad_();
  const torch::Tensor picks = PlackettLuce(scores, segments).greedy(kTopK);
  const torch::Tensor actions = Categorical(logits).greedy();
  const torch::Tensor per_state = torch::randn({kStates});
  const torch::Tensor per_decision = torch::randn({kStates * kTopK});
  const torch::Tensor per_value = torch::randn({kStates, kConflicts});
  for (auto _ : state) {
    const PlackettLuce selection(scores, segments);
    const Categorical command(logits);
    const PpoLossInputs in{
        .decisions = {.log_prob = command.log_prob(actions),
                      .old_log_prob = per_decision,
                      .advantages = per_decision,
                      .entropy = command.entropy()},
        .selections = {.log_prob = selection.log_prob(picks),
                       .old_log_prob = per_state,
                       .advantages = per_state,
                       .entropy = selection.entropy(),
                       .mask = segments.sizes() > kTopK},
        .values = {.values = values, .old_values = per_value, .returns = per_value}};
    ppo_loss(in, {.decisions = kStates * kTopK, .values = kStates * kConflicts}, {})
        .loss.backward();
  }
}
BENCHMARK(minibatch_loss_and_backward)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace traffic::rl

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
