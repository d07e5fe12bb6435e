// Measures simulation steps per second of SUMO alone, which is the maximum, and of the closed loop
// of ranks, workers and simulations. The loop has one decision per simulated second. It includes
// the graphs of the vehicles, but no commands.
#include <benchmark/benchmark.h>
#include <libsumo/Simulation.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "sim/sumo_session.h"
#include "traffic/core/clock.h"
#include "traffic/os/process_pool.h"
#include "traffic/sim/scenario.h"

namespace traffic {
namespace {

constexpr int kSteps = 900;  // an episode of `merge`

void run_episodes(int episodes, int first_seed) {
  for (int e = 0; e < episodes; ++e) {
    sim::SumoSession session;
    session.load({.sumocfg = sim::find_scenario("merge"),
                  .seed = static_cast<std::uint64_t>(first_seed + e),
                  .args = {},
                  .settings = {}});
    for (int s = 0; s < kSteps; ++s) libsumo::Simulation::step();
  }
}

/// @param state range(0): number of processes at once
void sumo_alone(benchmark::State& state) {
  constexpr int kEpisodes = 3;
  const auto processes = static_cast<int>(state.range(0));
  for (auto _ : state) {
    const Stopwatch clock;
    os::ProcessPool pool;
    for (int p = 0; p < processes; ++p) {
      pool.start([&](const os::Messages&) {
        run_episodes(kEpisodes, p * kEpisodes);
        return 0;
      });
    }
    while (pool.size() > 0) pool.wait(-1);
    state.SetIterationTime(clock.seconds());
  }
  state.counters["steps/s"] =
      benchmark::Counter(static_cast<double>(state.iterations() * processes * kEpisodes * kSteps),
                         benchmark::Counter::kIsRate);
}

/// @param state range(0): ranks; range(1): simulations, two per worker
void closed_loop(benchmark::State& state) {
  const std::string command =
      TRAFFIC_SOURCE_DIR "/launch/mpirun.sh -np " + std::to_string(state.range(0)) + " " +
      TRAFFIC_BIN_DIR "/rollout_driver --control none --set env.control_period_s=1 --episodes " +
      std::to_string(2 * state.range(1)) +
      " --set rollout.max_concurrent_envs=" + std::to_string(state.range(1));
  double steps_per_s = 0;
  for (auto _ : state) {
    FILE* output = popen(command.c_str(), "r");
    std::array<char, 512> line{};
    double rate = 0;
    double seconds = 0;
    while (std::fgets(line.data(), line.size(), output) != nullptr) {
      // The time from the first command to the last answer excludes the start of MPI.
      std::sscanf(line.data(), "%lf steps/s over %lf", &rate, &seconds);
    }
    if (pclose(output) != 0 || rate == 0) state.SkipWithError("the driver failed");
    state.SetIterationTime(seconds);
    steps_per_s += rate;
  }
  state.counters["steps/s"] = steps_per_s / static_cast<double>(state.iterations());
}

BENCHMARK(sumo_alone)->Arg(1)->Arg(2)->UseManualTime()->Unit(benchmark::kSecond);
BENCHMARK(closed_loop)
    ->Args({1, 2})
    ->Args({2, 4})
    ->Args({2, 12})
    ->UseManualTime()
    ->Unit(benchmark::kSecond);

}  // namespace
}  // namespace traffic

BENCHMARK_MAIN();
