// TrafficEnvironment: runs episodes in SUMO for a rank. It carries out orders, measures how the
// objective grows in each step, and saves or loads traffic in which episodes begin.
#include "traffic_environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

#include "acting_lights.h"
#include "acting_vehicles.h"
#include "order_codec.h"
#include "period_codec.h"
#include "traffic/config/controller_spec.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"
#include "traffic/scene/joint_controller.h"
#include "traffic/sim/env_options.h"

namespace traffic::rollout {
namespace {

/// The traffic of a piece (a part of a long scenario that is run as an episode) is saved this many
/// seconds before the piece begins. The simulation runs for this time before the
/// first decision, because some features look back in time.
constexpr double kLookBack_s = scene::kRecentS;

/// Name of the episode's scenario.
/// @throws WorkerError if its index is not an index of `mix`
const std::string& scenario_of(const EpisodeSpec& spec,
                               const std::vector<config::ScenarioShare>& mix) {
  if (static_cast<std::size_t>(spec.traffic.scenario) >= mix.size()) {
    throw WorkerError("an order asks for scenario number {}, but there are only {} scenarios",
                      spec.traffic.scenario, mix.size());
  }
  return mix[static_cast<std::size_t>(spec.traffic.scenario)].scenario;
}

std::vector<SimulatedAgent> shipped_agents() {
  return {{.agent = kVehicles,
           .make = [](const config::Config& config) -> std::unique_ptr<AgentInSimulation> {
             return std::make_unique<ActingVehicles>(config);
           }},
          {.agent = kLights, .make = [](const config::Config& config) {
             return std::make_unique<ActingLights>(config);
           }}};
}

}  // namespace

TrafficEnvironment::TrafficEnvironment(const config::Config& config, std::uint32_t env,
                                       const std::vector<SimulatedAgent>& more)
    : options_(config.env),
      cache_(config.episodes.baseline_cache),
      mix_(config::scenario_mix(config.env)),
      script_options_(sim::controller_options(config)),
      terms_(scene::terms_of(scene::objective_of(config.env.objective))),
      env_index_(env),
      sumo_(sim::first_env_options(config.env), sim::SumoEnv::Start::kLater),
      companion_(config) {
  std::vector<SimulatedAgent> table = shipped_agents();
  table.insert(table.end(), more.begin(), more.end());
  for (const SimulatedAgent& row : table) {
    if (std::ranges::find(options_.agents, row.agent) == options_.agents.end()) continue;
    agents_.push_back({.name = std::string(row.agent), .agent = row.make(config)});
  }
}

void TrafficEnvironment::try_out() {
  sumo_.reset(sim::EnvOptions{}.seed);
  control_period_ = {options_.control_period_s, sumo_.step_length_s()};
}

Environment::Answer TrafficEnvironment::reset(std::span<const std::byte> order,
                                              std::span<std::byte> room, EnvHost& host) {
  fault::hit("sumo_env.reset", env_index_, static_cast<std::int64_t>(host.episodes()));
  begin_episode(read_episode(order));
  begin_period();
  for (const Acting& acting : agents_) acting.agent->note_start();
  return answer(room);
}

Environment::Answer TrafficEnvironment::step(std::span<const std::byte> order,
                                             std::span<std::byte> room, EnvHost& host) {
  begin_period();
  obey(order);
  for (std::int64_t s = 1; s <= control_period_.steps() && !done(); ++s) run_step(s, host);
  return answer(room);
}

void TrafficEnvironment::obey(std::span<const std::byte> order) {
  for (const OrderSection& section : read_orders(order)) {
    const auto found = std::ranges::find(agents_, section.agent, &Acting::name);
    if (found == agents_.end()) {
      throw WorkerError("an order is for agent '{}', which does not act in this simulation",
                        section.agent);
    }
    found->agent->obey(section.commands);
  }
}

void TrafficEnvironment::begin_period() {
  growth_.clear();
  conflict_growth_.clear();
  for (const Acting& acting : agents_) acting.agent->begin_period();
}

void TrafficEnvironment::begin_episode(const EpisodeSpec& spec) {
  episode_ = spec;
  sumo_.set_scenario(scenario_of(spec, mix_));
  load_traffic(spec);
  companion_.begin(sumo_, spec.traffic.seed);
  control_period_ = {options_.control_period_s, sumo_.step_length_s()};
  script_.reset();
  if (!spec.controller.empty()) script_ = make_script(spec.controller);
  for (const Acting& acting : agents_) {
    acting.agent->begin({.sumo = sumo_, .spec = episode_, .script = script_.get()});
  }
  using Role = sim::ControllerDriver::Role;
  script_driver_.begin(script_.get(), sumo_, spec.traffic.seed,
                       spec.advises ? Role::kAdvises : Role::kDrives);
  remember_totals();
}

/// @param name one script, or a script of vehicles and a script of lights, as in "greedy+glide"
std::unique_ptr<scene::Controller> TrafficEnvironment::make_script(const std::string& name) const {
  std::vector<std::unique_ptr<scene::Controller>> parts;
  for (const std::string_view part : config::controller_parts(name)) {
    parts.push_back(scene::make_controller(part, script_options_));
  }
  return scene::join_controllers(std::move(parts));
}

void TrafficEnvironment::remember_totals() {
  totals_.clear();
  conflict_totals_.clear();
  for (const scene::Term term : terms_) totals_.push_back(value_of(sumo_.score(), term));
  for (std::size_t c = 0; c < sumo_.road().conflicts.size(); ++c) {
    for (const scene::Term term : terms_) {
      conflict_totals_.push_back(scene::sign_of(term) * sumo_.state().conflict_parts(term)[c]);
    }
  }
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

void TrafficEnvironment::run_step(std::int64_t step, EnvHost& host) {
  for (const Acting& acting : agents_) acting.agent->before_step(step);
  companion_.act(sumo_);
  const auto scripted = script_driver_.act(sumo_);
  const auto count = static_cast<std::int64_t>(host.begin_step());
  const auto action = fault::hit("sumo_env.step", env_index_, count);
  sumo_.step();
  note_growth();
  if (action == fault::Action::kNan) growth_.back() = std::nan("");
  if (action == fault::Action::kHuge) growth_.back() = 1e30;
  if (episode_.store.saves) save_piece();
  const MadeStep made{.frame_due = control_period_.frame_due(step) || done(), .scripted = scripted};
  for (const Acting& acting : agents_) acting.agent->note_step(made);
}

void TrafficEnvironment::note_growth() {
  const std::vector<double> totals = std::exchange(totals_, {});
  const std::vector<double> conflict_totals = std::exchange(conflict_totals_, {});
  remember_totals();
  std::ranges::transform(totals_, totals, std::back_inserter(growth_), std::minus());
  std::ranges::transform(conflict_totals_, conflict_totals, std::back_inserter(conflict_growth_),
                         std::minus());
}

Environment::Answer TrafficEnvironment::answer(std::span<std::byte> room) {
  Period period;
  period.time_s = sumo_.time_s();
  if (done()) {
    period.truncated = !sumo_.done() || is_cut();
    period.terminated = !period.truncated;
  }
  period.num_conflicts = static_cast<std::int64_t>(sumo_.road().conflicts.size());
  period.num_terms = static_cast<std::int64_t>(terms_.size());
  period.growth = growth_;
  period.conflict_growth = conflict_growth_;
  period.score = sumo_.score();
  PeriodWriter writer(period, room);
  for (const Acting& acting : agents_) {
    writer.add(acting.name, [&](ByteWriter& section) {
      acting.agent->write(section, period.terminated, period.done());
    });
  }
  return {.size_bytes = writer.size(), .done = period.done()};
}

}  // namespace traffic::rollout
