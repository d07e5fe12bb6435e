#include "traffic_environment.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/core/fault.h"
#include "traffic/sim/env_options.h"

namespace traffic::rollout {
namespace {

/// What the configuration says, for the first of its scenarios.
sim::EnvOptions first_options(const config::Env& env,
                              const std::vector<config::ScenarioShare>& mix) {
  sim::EnvOptions options = sim::env_options(env);
  options.scenario = mix.front().scenario;
  return options;
}

}  // namespace

TrafficEnvironment::TrafficEnvironment(const config::Config& config, std::uint32_t env)
    : options_(config.env),
      mix_(config::scenario_mix(config.env)),
      rule_(sim::candidate_rule(config)),
      top_k_(static_cast<int>(config.controller.top_k)),
      by_delay_(config.env.objective == "delay"),
      env_index_(env),
      sumo_(first_options(config.env, mix_)),
      control_period_(options_.control_period_s, sumo_.step_length_s()) {}

Environment::Answer TrafficEnvironment::reset(std::span<const std::byte> order,
                                              std::span<std::byte> room, EnvHost& host) {
  fault::hit("sumo_env.reset", env_index_, static_cast<std::int64_t>(host.episodes()));
  begin_episode(read_episode(order));
  begin_period(room);
  if (episode_.frames) writer_.add_frame(sumo_.frame());
  return answer();
}

Environment::Answer TrafficEnvironment::step(std::span<const std::byte> order,
                                             std::span<std::byte> room, EnvHost& host) {
  begin_period(room);
  if (const auto commands = read_commands(order); !commands.empty()) sumo_.apply(commands);
  for (std::int64_t s = 1; s <= control_period_.steps() && !sumo_.done(); ++s) {
    run_step(host);
    const bool due = control_period_.frame_due(s) || sumo_.done();
    if (episode_.frames && due) writer_.add_frame(sumo_.frame());
  }
  return answer();
}

void TrafficEnvironment::begin_period(std::span<std::byte> room) {
  growth_.clear();
  conflict_growth_.clear();
  controlled_.clear();
  scripted_.clear();
  writer_.begin(room);
}

void TrafficEnvironment::begin_episode(const EpisodeSpec& spec) {
  episode_ = spec;
  std::vector<std::string> extra_args;
  if (spec.demand_scale != 1.0) extra_args = {"--scale", fmt::format("{}", spec.demand_scale)};
  if (static_cast<std::size_t>(spec.traffic.scenario) >= mix_.size()) {
    throw WorkerError("an episode of scenario {}, there are {}", spec.traffic.scenario,
                      mix_.size());
  }
  sumo_.set_scenario(mix_[static_cast<std::size_t>(spec.traffic.scenario)].scenario);
  sumo_.reset(spec.traffic.seed, extra_args);
  control_period_ = {options_.control_period_s, sumo_.step_length_s()};
  controller_.reset();
  if (!spec.controller.empty()) {
    scene::ControllerOptions options;
    options.candidates = rule_;
    options.top_k = top_k_;
    options.period_s = options_.control_period_s;
    controller_ = scene::make_controller(spec.controller, options);
    controller_->reset(spec.traffic.seed);
  }
  next_decision_s_ = 0;
  const auto parts = conflict_parts();
  conflict_parts_.assign(parts.begin(), parts.end());
}

/// What is to grow, by env.objective.
double TrafficEnvironment::achieved() const {
  return by_delay_ ? -sumo_.score().lost_s() : sumo_.score().numerator();
}

/// What of it belongs to each conflict; of delay with the other sign.
std::span<const double> TrafficEnvironment::conflict_parts() const {
  return by_delay_ ? sumo_.state().conflict_losses_s() : sumo_.state().conflict_numerators();
}

void TrafficEnvironment::run_step(EnvHost& host) {
  if (controller_ && sumo_.time_s() >= next_decision_s_ - scene::kTimeTolerance_s) {
    const std::size_t decided = scripted_.size();
    controller_->decide(sumo_.state(), scripted_);
    sumo_.apply(std::span(scripted_).subspan(decided));
    next_decision_s_ += controller_->period_s();
  }
  const double before = achieved();
  const auto count = static_cast<std::int64_t>(host.begin_step());
  const auto action = fault::hit("sumo_env.step", env_index_, count);
  sumo_.step();
  double growth = achieved() - before;
  if (action == fault::Action::kNan) growth = std::nan("");
  growth_.push_back(growth);
  const auto parts = conflict_parts();
  for (std::size_t c = 0; c < parts.size(); ++c) {
    const double more = parts[c] - conflict_parts_[c];
    conflict_growth_.push_back(by_delay_ ? -more : more);
    conflict_parts_[c] = parts[c];
  }
  note_controlled();
}

void TrafficEnvironment::note_controlled() {
  const auto vehicles = sumo_.state().vehicles();
  for (const scene::Vehicle& vehicle : vehicles) {
    if (!vehicle.commanded) continue;
    auto entry = std::find_if(
        controlled_.begin(), controlled_.end(),
        [&](const ControlledVehicle& known) { return known.vehicle_id == vehicle.id; });
    if (entry == controlled_.end()) {
      entry = controlled_.insert(controlled_.end(), {.vehicle_id = vehicle.id});
    }
    const bool followed = vehicle.follower >= 0;
    const auto& follower = vehicles[followed ? static_cast<std::size_t>(vehicle.follower) : 0];
    entry->conflict = vehicle.conflict;
    entry->steps += 1;
    if (vehicle.braking || (followed && follower.braking)) entry->hard_brakes += 1;
    if (vehicle.unsafe || (followed && follower.unsafe)) entry->unsafe_steps += 1;
  }
}

Environment::Answer TrafficEnvironment::answer() {
  candidates_.clear();
  if (episode_.frames && !sumo_.done()) scene::find_candidates(sumo_.state(), rule_, candidates_);
  Period period;
  period.time_s = sumo_.time_s();
  if (sumo_.done()) {
    period.truncated =
        options_.max_time_s > 0 && sumo_.time_s() >= options_.max_time_s - scene::kTimeTolerance_s;
    period.terminated = !period.truncated;
  }
  period.num_conflicts = static_cast<std::int64_t>(conflict_parts_.size());
  period.growth = growth_;
  period.conflict_growth = conflict_growth_;
  period.candidates = candidates_;
  period.controlled = controlled_;
  period.scripted = scripted_;
  period.score = sumo_.score();
  return {.size_bytes = writer_.finish(period), .done = sumo_.done()};
}

}  // namespace traffic::rollout
