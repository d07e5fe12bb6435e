// Reads a scenario's network, demand and options, and summarises them before a run.
#include "traffic/sim/network_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "demand.h"
#include "departures.h"
#include "libsumo_simulator.h"
#include "sumo_options.h"
#include "traffic/config/scenario_mix.h"
#include "traffic/core/error.h"
#include "traffic/core/text.h"
#include "traffic/scene/road.h"
#include "traffic/scene/signal_plan.h"
#include "traffic/sim/scenario.h"

namespace traffic::sim {
namespace {

using scene::Road;

ApproachStudy study_approach(const Road& road, const scene::Conflict& conflict,
                             const scene::Approach& approach) {
  ApproachStudy study{.edge = road.edges[static_cast<std::size_t>(approach.edge)].id,
                      .lanes = static_cast<int>(approach.lanes.size()),
                      .minor = approach.minor,
                      .major = approach.major,
                      .speed_limit_mps = road.speed_limit_mps(approach.edge),
                      .lit = approach.light >= 0};
  study.may_yield = study.major && std::any_of(approach.conflicting.begin(),
                                               approach.conflicting.end(), [&](int other) {
                                                 const auto o = static_cast<std::size_t>(other);
                                                 return conflict.approaches[o].light >= 0;
                                               });
  return study;
}

void study_road(const Road& road, NetworkStudy& study) {
  study.lights = static_cast<int>(road.lights.size());
  for (const scene::Conflict& conflict : road.conflicts) {
    ConflictStudy found{.id = conflict.id, .approaches = {}};
    std::set<int> exits;
    for (const scene::Approach& approach : conflict.approaches) {
      found.approaches.push_back(study_approach(road, conflict, approach));
      exits.insert(approach.next_edges.begin(), approach.next_edges.end());
    }
    for (const int edge : exits) {
      found.exit_lanes += road.edges[static_cast<std::size_t>(edge)].num_lanes;
    }
    study.conflicts.push_back(std::move(found));
  }
}

/// Counts the lights with two greens or more in the program that each begins with. Asks SUMO,
/// because several files and options can choose the program or switch a light off.
/// @param simulator has loaded the scenario
int count_trainable_lights(const std::vector<std::string>& lights, LibsumoSimulator& simulator) {
  return static_cast<int>(std::ranges::count_if(lights, [&](const std::string& light) {
    return scene::SignalPlan(simulator.light_logic(light, simulator.light_program(light)))
        .has_choice();
  }));
}

/// Finds the approach that a vehicle uses when it drives from one edge to the next.
class Approaches {
 public:
  explicit Approaches(const Road& road) : road_(road) {
    for (std::size_t c = 0; c < road.conflicts.size(); ++c) {
      const auto& approaches = road.conflicts[c].approaches;
      for (std::size_t a = 0; a < approaches.size(); ++a) {
        for (const int next : approaches[a].next_edges) {
          entered_[{approaches[a].edge, next}] = {c, a};
        }
      }
    }
  }

  /// Adds the vehicles of a route to all approaches that the route uses.
  /// @return whether the route passes a conflict
  bool add(const std::vector<std::string>& edges, double vehicles, NetworkStudy& study) const {
    bool passes = false;
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
      const auto from = road_.edge_index.find(edges[i]);
      const auto to = road_.edge_index.find(edges[i + 1]);
      if (from == road_.edge_index.end() || to == road_.edge_index.end()) continue;
      const auto found = entered_.find({from->second, to->second});
      if (found == entered_.end()) continue;
      passes = true;
      study.conflicts[found->second.first].approaches[found->second.second].vehicles += vehicles;
    }
    return passes;
  }

 private:
  const Road& road_;
  std::map<std::pair<int, int>, std::pair<std::size_t, std::size_t>> entered_;
};

void study_demand(const Road& road, const Demand& demand, NetworkStudy& study) {
  const Approaches approaches(road);
  for (const DemandPart& part : demand.parts) {
    const auto found = demand.routes.find(part.route);
    const bool written_out = found != demand.routes.end() && !found->second.edges.empty();
    const bool passes = written_out ? approaches.add(found->second.edges, part.vehicles, study)
                                    : !study.conflicts.empty();
    TypeDemand& type = study.types[part.type];
    type.vehicles += part.vehicles;
    if (passes) type.past_conflicts += part.vehicles;
    study.routes[found == demand.routes.end() ? part.route : found->second.name] += part.vehicles;
    study.vehicles += part.vehicles;
    if (written_out) study.written_out += part.vehicles;
  }
  study.random_vehicles = demand.random_vehicles;
  study.demand_without_end = demand.has_endless_flow;
  study.last_depart_s = std::max(0.0, demand.last_depart_s - study.begin_s);
}

/// Output options of the .sumocfg, and elements of the scenario's files that write output.
std::vector<std::string> outputs_of(const SumoOptions& options, const Demand& demand) {
  std::vector<std::string> outputs = options.outputs_of_file();
  outputs.insert(outputs.end(), demand.outputs.begin(), demand.outputs.end());
  return outputs;
}

/// Raises the counts to the numbers of vehicles that departed in the short simulation.
void add_departures(const Departures& seen, NetworkStudy& study) {
  for (const auto& [name, vehicles] : seen.types) {
    TypeDemand& type = study.types[name];
    const double more = std::max(0.0, static_cast<double>(vehicles) - type.vehicles);
    if (more <= 0.0) continue;
    type.vehicles += more;
    if (!study.conflicts.empty()) type.past_conflicts += more;
    study.routes["routes in no file"] += more;
    study.vehicles += more;
    study.last_depart_s = std::max(study.last_depart_s, seen.time_s);
  }
  if (seen.is_whole) study.demand_is_certain = true;
}

/// Studies what this program's own readers find in the scenario's files.
/// @param lights receives SUMO's ids of the network's lights
Demand study_files(const SumoOptions& options, std::optional<double> end_s, NetworkStudy& study,
                   std::vector<std::string>& lights) {
  Demand demand = read_demand(options, study.begin_s, end_s);
  const Road road = scene::read_road(options.files("net-file").front());
  study_road(road, study);
  lights = road.lights;
  study_demand(road, demand, study);
  study.outputs = outputs_of(options, demand);
  return demand;
}

/// Reads the files and lets SUMO load the scenario, so that a scenario that SUMO refuses is refused
/// before anything starts. If this program and SUMO both refuse it, the error has both reasons.
Demand read_and_load(const SumoOptions& options, std::optional<double> end_s, const SumoRun& run,
                     NetworkStudy& study) {
  Demand demand;
  std::vector<std::string> lights;
  std::string refusal;
  for (const std::string& name : options.names_of_files()) {
    for (const auto& file : options.files(name)) refuse_pipe(file);
  }
  try {
    demand = study_files(options, end_s, study, lights);
  } catch (const EndlessFile&) {
    throw;  // SUMO would crash when it reads this file
  } catch (const DataError& error) {
    refusal = error.what();
  }
  try {
    LibsumoSimulator simulator(/*emissions=*/false);
    simulator.load(run);
    study.trainable_lights = count_trainable_lights(lights, simulator);
  } catch (const DataError& error) {
    throw DataError("{}{}{}", refusal, refusal.empty() ? "" : "; ", error.what());
  }
  if (!refusal.empty()) throw DataError("{}", refusal);
  return demand;
}

}  // namespace

NetworkStudy study_network(const config::Env& env, const std::string& scenario) {
  NetworkStudy study;
  study.scenario = scenario;
  study.sumocfg = find_scenario(scenario);
  const SumoOptions options(study.sumocfg, env.sumo_args);
  const auto nets = options.files("net-file");
  if (nets.empty())
    throw DataError("scenario {}: the .sumocfg names no net-file", study.sumocfg.string());
  study.begin_s = options.seconds("begin").value_or(0.0);
  // To SUMO, an end below 0 means that the simulation has no end.
  study.end_s = options.seconds("end");
  if (study.end_s && *study.end_s < 0.0) study.end_s.reset();
  study.step_length_s = options.seconds("step-length").value_or(study.step_length_s);
  study.time_to_teleport_s = options.seconds("time-to-teleport").value_or(study.time_to_teleport_s);
  study.max_depart_delay_s = options.seconds("max-depart-delay").value_or(study.max_depart_delay_s);
  study.demand_elsewhere = options.find("load-state").has_value();

  std::optional<double> end_s = study.end_s;
  if (env.max_time_s > 0) end_s = study.begin_s + env.max_time_s;
  const SumoRun run{.sumocfg = study.sumocfg, .args = env.sumo_args};
  const Demand demand = read_and_load(options, end_s, run, study);
  study.uncounted_sources = {demand.sources.begin(), demand.sources.end()};
  study.demand_is_certain = study.uncounted_sources.empty() && !study.demand_elsewhere;
  if (!study.demand_elsewhere && (!study.demand_is_certain || study.vehicles <= 0.0)) {
    study.demand_is_certain = false;
    add_departures(watch_departures(run, end_s), study);
  }
  return study;
}

double connected_vehicles(const NetworkStudy& study, const config::Env& env) {
  if (env.cv_share > 0) return env.cv_share * study.vehicles;
  double sum = 0.0;
  for (const std::string& type : env.cv_types) {
    if (const auto found = study.types.find(type); found != study.types.end()) {
      sum += found->second.vehicles;
    }
  }
  return sum;
}

std::optional<double> duration_s(const NetworkStudy& study, const config::Env& env) {
  if (env.max_time_s > 0) return env.max_time_s;
  if (study.end_s) return *study.end_s - study.begin_s;
  return std::nullopt;
}

std::string summary_line(const NetworkStudy& study, const config::Env& env) {
  std::size_t approaches = 0;
  std::size_t minor = 0;
  std::size_t major = 0;
  for (const ConflictStudy& conflict : study.conflicts) {
    for (const ApproachStudy& approach : conflict.approaches) {
      ++approaches;
      minor += approach.minor ? 1 : 0;
      major += approach.major ? 1 : 0;
    }
  }
  const auto duration = duration_s(study, env);
  const double connected = connected_vehicles(study, env);
  std::string text = fmt::format(
      "{}: {}, {} ({} minor, {} major), {}; {}{:.0f} vehicles in {}, {:.0f} % of them connected",
      study.scenario, counted(static_cast<std::int64_t>(study.conflicts.size()), "conflict"),
      counted(static_cast<std::int64_t>(approaches), "approach", "es"), minor, major,
      counted(study.lights, "light"), study.demand_is_certain ? "" : "at least ", study.vehicles,
      duration ? fmt::format("{:.0f} s", *duration) : "an episode without end",
      study.vehicles > 0 ? 100.0 * connected / study.vehicles : 0.0);
  text +=
      env.cv_share > 0 ? " (by env.cv_share)" : fmt::format(" ({})", fmt::join(env.cv_types, ", "));
  text += study.random_vehicles > 0 ? "; demand varies with the seed" : "; demand is fixed";
  text += fmt::format("; steps of {:g} s, ", study.step_length_s);
  return text + (study.time_to_teleport_s > 0
                     ? fmt::format("teleports after {:g} s", study.time_to_teleport_s)
                     : "no teleports");
}

NetworkReport look_at_networks(config::Config& config, const StudyUse& use) {
  NetworkReport report;
  const auto mix = config::scenario_mix(config.env);
  for (const config::ScenarioShare& part : mix) {
    const NetworkStudy study = study_network(config.env, part.scenario);
    std::vector<StudyFinding> findings;
    // In a mix of scenarios a key would apply to the other scenarios, too.
    if (mix.size() == 1) findings = set_the_obvious(study, config.env);
    report.summaries.push_back(summary_line(study, config.env));
    for (StudyFinding& finding : judge(study, config, use)) findings.push_back(std::move(finding));
    for (StudyFinding& finding : findings) {
      finding.found.insert(0, study.scenario + ": ");
      report.findings.push_back(std::move(finding));
    }
  }
  return report;
}

void require_usable(const std::vector<StudyFinding>& findings) {
  std::string text;
  for (const StudyFinding& finding : findings) {
    if (finding.severity != Severity::kError) continue;
    text += (text.empty() ? "" : "\n") + finding.text();
  }
  if (!text.empty()) throw ConfigError(text);
}

}  // namespace traffic::sim
