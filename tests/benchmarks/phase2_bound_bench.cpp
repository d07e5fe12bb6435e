// What an environment step of phase 2 costs if there were nothing but the simulation and the
// arithmetic of the model: SUMO's own step, and encoder, world model, controller and the passes of
// learning over it, in the batches of the loop.
//   bench_phase2_bound [scenario]
// Small sizes (hidden 64), a decision every second, 10 epochs. CPU time of one core, so that other
// load counts less.
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <libsumo/Simulation.h>
#include <libsumo/Vehicle.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <ctime>
#include <functional>

#include "benchmarks/synthetic_windows.h"
#include "sim/sumo_session.h"
#include "traffic/model/controller.h"
#include "traffic/model/graph_encoder.h"
#include "traffic/model/world_model.h"
#include "traffic/scene/frame.h"
#include "traffic/sim/scenario.h"
#include "train/phase2_perception.h"

namespace {

using namespace traffic;

constexpr std::int64_t kSimulations = 3;  // of a batch: 12 on two ranks, in two groups
constexpr std::int64_t kCandidates = 6;   // of a simulation, about
constexpr std::int64_t kMinibatch = 64;   // of a rank: 128 on two
constexpr int kEpochs = 10;

double cpu_s() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

struct Sumo {
  double step_s = 0;
  double vehicles = 0;
};

Sumo sumo_alone(const std::string& scenario) {
  constexpr int kSteps = 900;
  sim::SumoSession session;
  session.load(sim::find_scenario(scenario), 0, {});
  Sumo result;
  const double start = cpu_s();
  for (int s = 0; s < kSteps; ++s) {
    libsumo::Simulation::step();
    result.vehicles += static_cast<double>(libsumo::Vehicle::getIDCount()) / kSteps;
  }
  result.step_s = (cpu_s() - start) / kSteps;
  return result;
}

double seconds_of(const std::function<void()>& work) {
  constexpr int kTimes = 200;
  for (int i = 0; i < 20; ++i) work();
  const double start = cpu_s();
  for (int i = 0; i < kTimes; ++i) work();
  return (cpu_s() - start) / kTimes;
}

/// Of an environment step, on one core.
double model_s(double vehicles) {
  config::Config config;
  config.model = {.hidden_dim = 64,
                  .gnn_layers = 2,
                  .num_heads = 4,
                  .lstm_hidden = 64,
                  .lstm_layers = 1,
                  .latent_dim = 32};
  config.controller.hidden_dim = 64;
  const auto features = static_cast<std::int64_t>(scene::node_features().size());
  const model::ControllerInputs widths = train::Perception(config, 1, torch::kCPU).widths();
  model::GraphEncoder encoder(config.model, features);
  model::WorldModel world(config.model, 5);
  model::Controller controller(config.controller, config.action, widths);
  encoder->pack_for_inference();
  world->pack_for_inference();

  const auto windows =
      benchmarks::make_windows(kSimulations, features, 1, 1, static_cast<std::int64_t>(vehicles));
  model::LstmState state = world->zero_state(windows.vehicles);
  const auto candidates = [&](std::int64_t states) {
    return model::CandidateBatch{
        torch::randn({states * kCandidates, widths.own}), torch::randn({states, widths.shared}),
        torch::arange(states, torch::kLong).repeat_interleave(kCandidates)};
  };
  const auto batch = candidates(kSimulations);
  const torch::Tensor rows = torch::arange(kSimulations * kCandidates, torch::kLong);
  const double infer_s = seconds_of([&] {
    const torch::InferenceMode inference;
    const torch::Tensor hidden = world->step(encoder->forward(windows.graph), state);
    world->latents(hidden.index_select(0, rows));
    controller->forward(batch);
  });

  const auto minibatch = candidates(kMinibatch);
  const torch::Tensor conflicts = torch::randn({kMinibatch, widths.conflict});
  const double learn_s = seconds_of([&] {
    const model::ControllerOutput out = controller->forward(minibatch);
    (out.longitudinal.logsumexp(1).sum() + out.score.square().sum() +
     controller->value(conflicts).square().sum())
        .backward();
  });
  return infer_s / kSimulations + kEpochs * learn_s / kMinibatch;
}

}  // namespace

int main(int argc, char** argv) {
  at::set_num_threads(1);
  torch::manual_seed(1);
  const Sumo sumo = sumo_alone(argc > 1 ? argv[1] : "merge");
  const double model = model_s(sumo.vehicles);
  fmt::print(
      "{:.0f} vehicles: SUMO {:.3f} ms, model {:.3f} ms an environment step; bound on two cores, "
      "steps/s: {:.0f}\n",
      sumo.vehicles, sumo.step_s * 1e3, model * 1e3, 2.0 / (sumo.step_s + model));
}
