/// Runs an episode of the pool of a training, in which a fixed rule chooses the greens, and prints
/// what the rank receives: a JSON object for each period. tests/apps/traffic_env_test.py compares
/// them with those of libtraffic_env.so.
///
///   mpirun -np 1 light_periods CONFIG SEED [KEY=VALUE]...
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "traffic/comm/mpi_session.h"
#include "traffic/config/load.h"
#include "traffic/core/error.h"
#include "traffic/rollout/traffic/traffic_pool.h"

namespace traffic::rollout {
namespace {

/// Light l takes option (number of the period + l) modulo the number of its options.
void run(TrafficPool& pool, std::uint64_t seed) {
  pool.start_episode(0, {.traffic = {.seed = seed}});
  std::vector<scene::SignalCommand> commands;
  for (std::int32_t number = 0;; ++number) {
    for (const Event& event : pool.wait_all(pool.my_envs())) {
      if (event.lost) throw WorkerError("{}", event.why);
    }
    const Period& period = pool.period(0);
    const auto& lights = period.of<LightSection>();
    std::vector<std::int32_t> choosing;
    commands.clear();
    for (const LightChoice& choice : lights.choices) {
      choosing.push_back(choice.light);
      commands.push_back(
          {.light = choice.light, .green = (number + choice.light) % choice.num_greens});
    }
    fmt::print(
        "{{\"time_s\": {}, \"done\": {}, \"delay_s\": {}, \"lost_s\": [{}], \"choosing\": [{}], "
        "\"rows\": [{}]}}\n",
        period.time_s, period.done(), period.score.delay_s(), fmt::join(lights.cost_s, ", "),
        fmt::join(choosing, ", "), fmt::join(lights.rows, ", "));
    if (period.done()) return;
    Orders orders;
    orders.add<scene::SignalCommand>(kLights, commands);
    pool.act(0, orders);
  }
}

int body(const comm::MpiSession& session, int argc, char** argv) {
  if (argc < 3) throw ConfigError("usage: light_periods CONFIG SEED [KEY=VALUE]...");
  config::Overrides overrides;
  for (int i = 3; i < argc; ++i) {
    overrides.assignments.push_back(config::parse_assignment(argv[i]));
  }
  TrafficPool pool(session, config::load_config(argv[1], overrides));
  run(pool, std::stoull(argv[2]));
  pool.close();
  return 0;
}

}  // namespace
}  // namespace traffic::rollout

int main(int argc, char** argv) {
  return traffic::comm::run_mpi_program(argc, argv, [&](traffic::comm::MpiSession& session) {
    return traffic::rollout::body(session, argc, argv);
  });
}
