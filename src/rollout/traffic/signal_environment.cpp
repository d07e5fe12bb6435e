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
  std::fill(lost_s_.begin(), lost_s_.end(), 0.0);
  if (acts_) sumo_.apply(read_signal_commands(order));
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
  acts_ = !script_ || script_->sets_signals();
  if (!script_) sumo_.take_signals();
  graph_builder_.reset();
  if (!script_ && spec.frames) graph_builder_.emplace(sumo_.road());
  script_driver_.begin(script_.get(), sumo_, spec.traffic.seed);
  companion_.begin(sumo_, spec.traffic.seed);
  lost_s_.assign(sumo_.road().lights.size(), 0.0);
}

void SignalEnvironment::run_step(EnvHost& host) {
  companion_.act(sumo_);
  script_driver_.act(sumo_);
  const auto count = static_cast<std::int64_t>(host.begin_step());
  const auto action = fault::hit("sumo_env.step", env_index_, count);
  sumo_.step();
  if (!acts_) return;
  for (std::size_t light = 0; light < lost_s_.size(); ++light) {
    lost_s_[light] += sumo_.signals().light(static_cast<int>(light)).lost_s;
  }
  if (action == fault::Action::kNan && !lost_s_.empty()) lost_s_.front() = std::nan("");
}

Environment::Answer SignalEnvironment::answer(std::span<std::byte> room) {
  choices_.clear();
  rows_.clear();
  const bool done = sumo_.done();
  if (acts_ && !script_ && !done) find_choices(sumo_.signals(), choices_, rows_);
  const bool shows_graph = graph_builder_ && !choices_.empty();
  if (shows_graph) graph_builder_->build(sumo_.signals(), graph_);
  const SignalPeriod period{.time_s = sumo_.time_s(),
                            .done = done,
                            .lost_s = lost_s_,
                            .choices = choices_,
                            .rows = rows_,
                            .graph = shows_graph ? graph_.view() : scene::SignalGraphView{},
                            .score = sumo_.score()};
  return {.size_bytes = write_signal_period(period, room), .done = done};
}

}  // namespace traffic::rollout
