/// Measures the update of one rank in phase 2, without waiting for other ranks. The rank has 2000
/// states of one conflict with about six candidates each. The model has small sizes (hidden 64),
/// and the update has 10 epochs in minibatches of 64 states.
#include <benchmark/benchmark.h>
#include <torch/utils.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "support/alone_communicator.h"
#include "support/uniforms.h"
#include "traffic/core/random.h"
#include "train/policy/perception.h"
#include "train/ppo/learner.h"

namespace traffic::train {
namespace {

constexpr std::int64_t kTrajectories = 10;
constexpr std::int64_t kSteps = 200;
constexpr std::uint64_t kMostCandidates = 12;

config::Config small() {
  config::Config config;
  config.model.hidden_dim = 64;
  config.model.lstm_hidden = 64;
  config.model.latent_dim = 32;
  config.vehicles.hidden_dim = 64;
  config.vehicles.commands = {"none", "stop", "fast"};
  config.vehicles.lane_change = false;
  config.ppo.minibatch_size = 64;
  config.ppo.num_epochs = 10;
  config.ppo.value_epochs = 4;
  config.ppo.target_kl = 0.0;
  return config;
}

Step random_step(Policy& policy, const model::ControllerInputs& widths, Rng& rng) {
  const auto m = static_cast<std::int64_t>(rng.uniform_int(kMostCandidates + 1));
  Step step;
  step.seen.own = torch::randn({m, widths.own});
  step.seen.shared = torch::randn({1, widths.shared});
  step.seen.conflict = torch::randn({1, widths.conflict});
  const Decisions made = policy.decide({.own = step.seen.own,
                                        .shared = step.seen.shared,
                                        .segments = rl::Segments(torch::tensor({0L, m}))},
                                       torch::tensor({policy.top_k()}),
                                       test::draw_uniforms(rng, {m, policy.uniform_columns()}));
  const auto all = []<typename T>(const torch::Tensor& t, const T* data) {
    return std::vector<T>(data, data + t.numel());
  };
  // There is only one state, so the number of a row is the position of the candidate.
  note_decisions(step, {.place = all(made.row, made.row.const_data_ptr<std::int64_t>()),
                        .action = all(made.action, made.action.const_data_ptr<float>()),
                        .lane = all(made.lane, made.lane.const_data_ptr<std::int64_t>())});
  step.decision_conflict.assign(step.made.size(), 0);
  step.reward = {static_cast<float>(rng.uniform())};
  step.cost = {0.0F};
  return step;
}

Experience random_experience(Policy& policy, const model::ControllerInputs& widths) {
  Rng rng(1);
  std::vector<Trajectory> trajectories;
  std::vector<std::int64_t> first;
  for (std::int64_t t = 0; t < kTrajectories; ++t) {
    Trajectory trajectory{.order = t, .final_conflict = torch::randn({1, widths.conflict})};
    for (std::int64_t s = 0; s < kSteps; ++s) {
      trajectory.steps.push_back(random_step(policy, widths, rng));
    }
    first.push_back(t * kSteps);
    trajectories.push_back(std::move(trajectory));
  }
  return pack(trajectories, first, widths, 1, policy.top_k());
}

void update(benchmark::State& state) {
  torch::manual_seed(1);
  const config::Config config = small();
  const model::ControllerInputs widths = Perception(config, 1, torch::kCPU).widths();
  Policy policy(config, widths, torch::kCPU);
  traffic::test::AloneCommunicator alone;
  Learner learner(config, policy, alone, 1);
  const Experience experience = random_experience(policy, widths);
  learner.update(experience, experience.num_states(), 0);  // not measured: the first update also
                                                           // fits the value
  for (auto _ : state) learner.update(experience, experience.num_states(), 0);
  state.SetItemsProcessed(state.iterations() * experience.num_states());
}
BENCHMARK(update)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->MinTime(3);

}  // namespace
}  // namespace traffic::train

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
