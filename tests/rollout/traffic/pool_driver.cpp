/// Uses a pool as a trainer does, but without learning, for tests and a benchmark: runs episodes,
/// commands some vehicles by a fixed rule, and prints the results.
///
///   rollout_driver [--set key=value]... [--episodes N | --forever] [--control rule|none]
///                  [--sumo-env PATH] [--rollout-worker PATH]
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/comm/mpi_session.h"
#include "traffic/config/load.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"
#include "traffic/core/hash.h"
#include "traffic/core/signals.h"
#include "traffic/rollout/traffic/traffic_pool.h"

namespace traffic::rollout {
namespace {

struct Options {
  config::Overrides overrides;
  std::int64_t episodes = 4;
  bool forever = false;
  bool control = true;
  Programs programs = sumo_programs();
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const auto value = [&] {
      if (++i >= argc) throw ConfigError("{} needs a value", name);
      return std::string(argv[i]);
    };
    if (name == "--set") {
      options.overrides.assignments.push_back(config::parse_assignment(value()));
    } else if (name == "--episodes") {
      options.episodes = std::stoll(value());
    } else if (name == "--forever") {
      options.forever = true;
    } else if (name == "--control") {
      options.control = value() == "rule";
    } else if (name == "--sumo-env") {
      options.programs.environment = value();
    } else if (name == "--rollout-worker") {
      options.programs.rollout_worker = value();
    } else {
      throw ConfigError("unknown option {}", name);
    }
  }
  return options;
}

/// Prints a line with one write, so that lines of several ranks do not mix.
void print_line(const std::string& text) {
  const std::string line = text + "\n";
  if (write(STDOUT_FILENO, line.data(), line.size()) < 0) return;
}

class Driver {
 public:
  Driver(const comm::MpiSession& session, const Options& options, const config::Config& config)
      : session_(session),
        options_(options),
        period_s_(config.env.control_period_s),
        pool_(start_sumo_pool(session, config, options.programs)),
        next_seed_(session.rank()) {}

  void run() {
    for (const int env : pool_.my_envs()) begin_next(env);
    std::size_t first_answers = pool_.my_envs().size();
    bool any = true;
    while (any) {
      any = false;
      for (const auto& group : pool_.groups()) {
        for (const Event& event : pool_.wait_all(group)) {
          if (first_answers > 0 && --first_answers == 0) {
            print_line(fmt::format("rank {} all answered after {:.3f} s, {:.3f} s since launch",
                                   session_.rank(), clock_.seconds(), seconds_since_launch()));
            clock_ = Stopwatch();
          }
          handle(event);
        }
        for (const int env : group) any = any || pool_.busy(env);
      }
    }
    const double seconds = clock_.seconds();
    pool_.close();
    if (session_.rank() == 0) report(seconds);
  }

 private:
  void begin_next(int env) {
    const bool more = options_.forever ? !stop_requested() : next_seed_ < options_.episodes;
    if (!more) return;
    begin(env, next_seed_);
    next_seed_ += session_.size();
  }

  void begin(int env, std::int64_t seed) {
    seed_of_[env] = seed;
    hash_of_[env] = Hasher();
    pool_.start_episode(env, {.traffic = {.seed = static_cast<std::uint64_t>(seed)}});
  }

  void handle(const Event& event) {
    fault::hit("driver.answer", session_.rank(), answers_++);
    if (event.lost) {
      print_line(fmt::format("lost {} seed {}: {}", event.env, seed_of_[event.env], event.why));
      begin(event.env, seed_of_[event.env]);
      return;
    }
    const Period& period = pool_.period(event.env);
    note(event.env, period);
    if (period.done()) {
      print_line(fmt::format("episode seed {} hash {} arrived {} controlled {} end {}",
                             seed_of_[event.env], hex64(hash_of_[event.env].digest()),
                             period.score.arrived, period.score.cv_steps,
                             period.truncated ? "truncated" : "terminated"));
      begin_next(event.env);
    } else if (options_.forever && stop_requested()) {
      return;
    } else {
      Orders orders;
      orders.add(kVehicles, decide(period));
      pool_.act(event.env, orders);
    }
  }

  /// Candidates with an even number drive slowly until the next decision.
  std::span<const scene::Command> decide(const Period& period) {
    commands_.clear();
    if (!options_.control) return commands_;
    for (const scene::Candidate& candidate : period.of<VehicleSection>().candidates) {
      const auto id = period.of<VehicleSection>().frames.back().vehicle_id[static_cast<std::size_t>(
          candidate.node)];
      if (id % 2 != 0) continue;
      commands_.push_back(
          {.vehicle_id = id, .longitudinal = scene::Longitudinal::kSlow, .hold_s = period_s_});
    }
    return commands_;
  }

  template <typename T>
  static void add(Hasher& hasher, std::span<const T> values) {
    hasher.update(std::as_bytes(values));
  }

  void note(int env, const Period& period) {
    Hasher& hasher = hash_of_.at(env);
    for (const scene::FrameView& frame : period.of<VehicleSection>().frames) {
      add(hasher, std::span(&frame.time_s, 1));
      add(hasher, frame.vehicle_id);
      add(hasher, frame.xy_m);
      add(hasher, frame.node_features);
      add(hasher, frame.edge_ptr);
      add(hasher, frame.edge_src);
      add(hasher, frame.edge_features);
      add(hasher, frame.global_features);
    }
    add(hasher, period.growth);
    add(hasher, period.conflict_growth);
    double sum = 0;
    for (const double growth : period.growth) sum += growth;
    sum_of_growth_[env] = period.growth.empty() ? 0 : sum_of_growth_[env] + sum;
    // The growth of all steps adds up to the score of the episode.
    TRAFFIC_CHECK(std::abs(sum_of_growth_[env] - period.score.numerator()) < 1e-6,
                  "growth adds up to {}, the score has {}", sum_of_growth_[env],
                  period.score.numerator());
  }

  void report(double seconds) const {
    const PoolCounters c = pool_.counters();
    print_line(
        fmt::format("counters steps {} episodes {} lost {} restarts {} timeouts {} rejected "
                    "{}",
                    c.steps, c.episodes, c.lost_episodes, c.restarts, c.timeouts, c.rejected));
    print_line(fmt::format("{:.1f} steps/s over {:.2f} s, {} simulations",
                           static_cast<double>(c.steps) / seconds, seconds, pool_.num_envs()));
  }

  Stopwatch clock_;  ///< measures the start, then the episodes
  const comm::MpiSession& session_;
  const Options& options_;
  double period_s_;
  TrafficPool pool_;
  std::int64_t next_seed_;
  std::int64_t answers_ = 0;
  std::map<int, std::int64_t> seed_of_;
  std::map<int, Hasher> hash_of_;
  std::map<int, double> sum_of_growth_;
  std::vector<scene::Command> commands_;
};

int body(comm::MpiSession& session, int argc, char** argv) {
  install_stop_handlers();
  const Options options = parse(argc, argv);
  const auto config = config::parse_config("", "the test", options.overrides);
  Driver(session, options, config).run();
  return 0;
}

}  // namespace
}  // namespace traffic::rollout

int main(int argc, char** argv) {
  return traffic::comm::run_mpi_program(argc, argv, [&](traffic::comm::MpiSession& session) {
    return traffic::rollout::body(session, argc, argv);
  });
}
