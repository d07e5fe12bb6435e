// Measures a simulation step of `merge` with the work that the environment adds to SUMO's own step:
// reading the state of the vehicles, and also building their graph.
#include <benchmark/benchmark.h>

#include "traffic/scene/controller.h"
#include "traffic/sim/sumo_env.h"

namespace traffic {
namespace {

/// Runs the steps between 600 s and 900 s of congested episodes, with about 150 vehicles.
void run_steps(benchmark::State& state, bool with_frames) {
  sim::SumoEnv env({.scenario = "merge"});
  std::uint64_t seed = 10;
  double vehicles = 0;
  for (auto _ : state) {
    if (env.time_s() < 600 || env.done()) {
      state.PauseTiming();
      env.reset(seed++);
      while (env.time_s() < 600) env.step();
      state.ResumeTiming();
    }
    env.step();
    if (with_frames) benchmark::DoNotOptimize(env.frame().num_edges());
    vehicles += static_cast<double>(env.state().vehicles().size());
  }
  state.counters["vehicles"] = benchmark::Counter(vehicles, benchmark::Counter::kAvgIterations);
  state.counters["steps/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void step(benchmark::State& state) { run_steps(state, false); }
void step_and_frame(benchmark::State& state) { run_steps(state, true); }
BENCHMARK(step)->Unit(benchmark::kMillisecond);
BENCHMARK(step_and_frame)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace traffic

BENCHMARK_MAIN();
