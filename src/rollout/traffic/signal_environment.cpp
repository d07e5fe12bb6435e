#include "signal_environment.h"

#include <cmath>
#include <string>

#include "episode_traffic.h"
#include "period_codec.h"
#include "signal_codec.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"
#include "traffic/sim/env_options.h"

namespace traffic::rollout {
SignalEnvironment::SignalEnvironment(const config::Config& config, std::uint32_t env)
    : options_(config.env),
      mix_(config::scenario_mix(config.env)),
      env_index_(env),
      sumo_(sim::first_env_options(config.env), sim::SumoEnv::Start::kLater),
      companion_(config) {}

void SignalEnvironment::try_out() {
  sumo_.reset(sim::EnvOptions{}.seed);
  control_period_ = {options_.control_period_s, sumo_.step_length_s()};
}

Environment::Answer SignalEnvironment::reset(std::span<const std::byte> order,
                                             std::span<std::byte> room, EnvHost& host) {
  fault::hit("sumo_env.reset", env_index_, static_cast<std::int64_t>(host.episodes()));
  begin_episode(read_episode(order));
  return answer(room);
}

Environment::Answer SignalEnvironment::step(std::span<const std::byte> order,
                                            std::span<std::byte> room, EnvHost& host) {
  lights_.obey(read_signal_commands(order));
  for (std::int64_t s = 0; s < control_period_.steps() && !sumo_.done(); ++s) run_step(host);
  return answer(room);
}

void SignalEnvironment::begin_episode(const EpisodeSpec& spec) {
  sumo_.set_scenario(scenario_of(spec, mix_));
  sumo_.reset(spec.traffic.seed, demand_args(spec));
  control_period_ = {options_.control_period_s, sumo_.step_length_s()};
  script_.reset();
  if (!spec.controller.empty()) {
    script_ = scene::make_controller(spec.controller, {.period_s = options_.control_period_s});
  }
  using Who = ActingLights::Who;
  const Who scripted = script_ && script_->sets_signals() ? Who::kScript : Who::kNobody;
  lights_.begin(sumo_, script_ ? scripted : Who::kRank, spec.signal_graph);
  script_driver_.begin(script_.get(), sumo_, spec.traffic.seed);
  companion_.begin(sumo_, spec.traffic.seed);
}

void SignalEnvironment::run_step(EnvHost& host) {
  companion_.act(sumo_);
  script_driver_.act(sumo_);
  const auto count = static_cast<std::int64_t>(host.begin_step());
  const auto action = fault::hit("sumo_env.step", env_index_, count);
  sumo_.step();
  lights_.note_step();
  const auto lost_s = lights_.lost_s();
  if (action == fault::Action::kNan && !lost_s.empty()) lost_s.front() = std::nan("");
}

Environment::Answer SignalEnvironment::answer(std::span<std::byte> room) {
  return {.size_bytes = write_signal_period(lights_.period(), room), .done = sumo_.done()};
}

}  // namespace traffic::rollout
