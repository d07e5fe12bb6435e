#include "traffic_environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "order_codec.h"
#include "traffic/config/controller_spec.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"
#include "traffic/scene/joint_controller.h"
#include "traffic/sim/env_options.h"

namespace traffic::rollout {
namespace {

/// A piece is loaded this long before its first decision, because some features look back in time.
constexpr double kLookBack_s = scene::kRecentS;

/// @throws WorkerError if the episode is of a scenario that does not exist
const std::string& scenario_of(const EpisodeSpec& spec,
                               const std::vector<config::ScenarioShare>& mix) {
  if (static_cast<std::size_t>(spec.traffic.scenario) >= mix.size()) {
    throw WorkerError("an episode of scenario {} was ordered, but there are {} scenarios",
                      spec.traffic.scenario, mix.size());
  }
  return mix[static_cast<std::size_t>(spec.traffic.scenario)].scenario;
}

}  // namespace

TrafficEnvironment::TrafficEnvironment(const config::Config& config, std::uint32_t env)
    : options_(config.env),
      cache_(config.episodes.baseline_cache),
      mix_(config::scenario_mix(config.env)),
      script_options_(sim::controller_options(config)),
      vehicles_act_(config.env.vehicles_act()),
      lights_act_(config.env.lights_act()),
      by_delay_(config.env.objective == "delay"),
      env_index_(env),
      sumo_(sim::first_env_options(config.env), sim::SumoEnv::Start::kLater),
      companion_(config),
      lights_(config),
      advisor_(vehicles_act_ ? sim::make_advisor(config) : nullptr) {}

void TrafficEnvironment::try_out() {
  sumo_.reset(sim::EnvOptions{}.seed);
  control_period_ = {options_.control_period_s, sumo_.step_length_s()};
}

Environment::Answer TrafficEnvironment::reset(std::span<const std::byte> order,
                                              std::span<std::byte> room, EnvHost& host) {
  fault::hit("sumo_env.reset", env_index_, static_cast<std::int64_t>(host.episodes()));
  begin_episode(read_episode(order));
  begin_period(room);
  if (shows_vehicles()) writer_.add_frame(sumo_.frame());
  return answer();
}

Environment::Answer TrafficEnvironment::step(std::span<const std::byte> order,
                                             std::span<std::byte> room, EnvHost& host) {
  begin_period(room);
  const Orders orders = read_orders(order);
  if (lights_act_) lights_.obey(orders.lights);
  command_vehicles(orders.vehicles);
  for (std::int64_t s = 1; s <= control_period_.steps() && !done(); ++s) {
    if (s > 1 && is_advised()) sumo_.apply(advisor_->go_on(sumo_.state()));
    run_step(host);
    const bool due = control_period_.frame_due(s) || done();
    if (shows_vehicles() && due) writer_.add_frame(sumo_.frame());
  }
  return answer();
}

void TrafficEnvironment::command_vehicles(std::span<const scene::Command> commands) {
  commands_.assign(commands.begin(), commands.end());
  if (is_advised()) advisor_->heed(commands_);
  if (!commands_.empty()) sumo_.apply(commands_);
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
  sumo_.set_scenario(scenario_of(spec, mix_));
  load_traffic(spec);
  companion_.begin(sumo_, spec.traffic.seed);
  control_period_ = {options_.control_period_s, sumo_.step_length_s()};
  script_.reset();
  if (!spec.controller.empty()) script_ = make_script(spec.controller);
  if (lights_act_) begin_lights();
  using Role = sim::ControllerDriver::Role;
  script_driver_.begin(script_.get(), sumo_, spec.traffic.seed,
                       spec.advises ? Role::kAdvises : Role::kDrives);
  const auto parts = conflict_parts();
  conflict_parts_.assign(parts.begin(), parts.end());
}

/// @param name one script, or one of vehicles and one of lights: "greedy+glide"
std::unique_ptr<scene::Controller> TrafficEnvironment::make_script(const std::string& name) const {
  std::vector<std::unique_ptr<scene::Controller>> parts;
  for (const std::string_view part : config::controller_parts(name)) {
    parts.push_back(scene::make_controller(part, script_options_));
  }
  return scene::join_controllers(std::move(parts));
}

void TrafficEnvironment::begin_lights() {
  using Setter = ActingLights::Setter;
  Setter setter = episode_.observed ? Setter::kRank : Setter::kProgram;
  if (script_ && script_->sets_signals()) setter = Setter::kScript;
  lights_.begin(sumo_, setter, episode_.light_graph, episode_.traffic.seed);
}

/// The value of env.objective since the start of the episode.
double TrafficEnvironment::achieved() const {
  return by_delay_ ? -sumo_.score().lost_s() : sumo_.score().numerator();
}

/// Contribution of each conflict to achieved(), but with time lost as a positive number.
std::span<const double> TrafficEnvironment::conflict_parts() const {
  return by_delay_ ? sumo_.state().conflict_losses_s() : sumo_.state().conflict_numerators();
}

void TrafficEnvironment::load_traffic(const EpisodeSpec& spec) {
  sumo_.set_demand_factor(spec.traffic.demand_scale);
  if (spec.store.saves || spec.traffic.piece == 0) {
    sumo_.reset(spec.traffic.seed);
    if (spec.store.saves) {
      const auto folder = piece_folder(cache_, spec.store.key);
      std::filesystem::create_directories(folder);
      remove_stale_temporaries(folder);
    }
    return;
  }
  const double begin_s = static_cast<double>(spec.traffic.piece) * spec.store.piece_s;
  sumo_.resume({.file = piece_file(spec.traffic.saved_seed, spec.traffic.piece),
                .time_s = begin_s - kLookBack_s},
               spec.traffic.seed);
  while (sumo_.time_s() < begin_s - scene::kTimeTolerance_s && !sumo_.done()) sumo_.step();
}

std::filesystem::path TrafficEnvironment::piece_file(std::uint64_t seed, std::int64_t piece) const {
  return piece_folder(cache_, episode_.store.key) / fmt::format("{}-{}.xml.gz", seed, piece);
}

void TrafficEnvironment::save_piece() {
  const double piece_s = episode_.store.piece_s;
  const auto piece = std::llround((sumo_.time_s() + kLookBack_s) / piece_s);
  const double at_s = static_cast<double>(piece) * piece_s - kLookBack_s;
  if (piece < 1 || std::fabs(sumo_.time_s() - at_s) > 0.5 * sumo_.step_length_s()) return;
  sumo_.save(piece_file(episode_.traffic.saved_seed, piece));
}

bool TrafficEnvironment::done() const {
  if (sumo_.done() || episode_.store.piece_s <= 0.0 || episode_.store.saves) return sumo_.done();
  const double end_s = static_cast<double>(episode_.traffic.piece + 1) * episode_.store.piece_s;
  return sumo_.time_s() >= end_s - scene::kTimeTolerance_s;
}

bool TrafficEnvironment::is_cut() const {
  return options_.max_time_s > 0 && sumo_.time_s() >= options_.max_time_s - scene::kTimeTolerance_s;
}

void TrafficEnvironment::run_step(EnvHost& host) {
  companion_.act(sumo_);
  const auto commands = script_driver_.act(sumo_);
  if (vehicles_act_) scripted_.insert(scripted_.end(), commands.begin(), commands.end());
  const double before = achieved();
  const auto count = static_cast<std::int64_t>(host.begin_step());
  const auto action = fault::hit("sumo_env.step", env_index_, count);
  sumo_.step();
  double growth = achieved() - before;
  if (action == fault::Action::kNan) growth = std::nan("");
  if (action == fault::Action::kHuge) growth = 1e30;
  if (episode_.store.saves) save_piece();
  note_growth(growth);
  if (lights_act_) lights_.note_step();
  if (vehicles_act_) note_controlled();
}

void TrafficEnvironment::note_growth(double growth) {
  growth_.push_back(growth);
  const auto parts = conflict_parts();
  for (std::size_t c = 0; c < parts.size(); ++c) {
    const double more = parts[c] - conflict_parts_[c];
    conflict_growth_.push_back(by_delay_ ? -more : more);
    conflict_parts_[c] = parts[c];
  }
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

VehicleSection TrafficEnvironment::vehicle_section() {
  candidates_.clear();
  VehicleSection section;
  // At truncation the learner bootstraps the value of this state, so it needs the observation.
  if (shows_vehicles() && !(sumo_.done() && !is_cut())) {
    scene::find_candidates(sumo_.state(), script_options_.candidates, candidates_);
    if (advisor_ != nullptr) section.advice = advisor_->advise(sumo_.state());
  }
  section.candidates = candidates_;
  section.controlled = controlled_;
  section.scripted = scripted_;
  return section;
}

Environment::Answer TrafficEnvironment::answer() {
  Period period;
  period.time_s = sumo_.time_s();
  if (done()) {
    period.truncated = !sumo_.done() || is_cut();
    period.terminated = !period.truncated;
  }
  period.num_conflicts = static_cast<std::int64_t>(conflict_parts_.size());
  period.growth = growth_;
  period.conflict_growth = conflict_growth_;
  period.score = sumo_.score();
  period.vehicles = vehicle_section();
  if (lights_act_) period.lights = lights_.section(done());
  return {.size_bytes = writer_.finish(period), .done = done()};
}

}  // namespace traffic::rollout
