/// Studies a scenario before a run: reads its network, demand and options from its files, and finds
/// out whether a run with a configuration makes sense.
///
///     std::vector<StudyFinding> look_at(config::Config& config, const std::string& scenario) {
///       const NetworkStudy study = study_network(config.env, scenario);
///       std::vector<StudyFinding> findings = set_the_obvious(study, config.env);
///       for (const StudyFinding& finding : judge(study, config, {.controllers = {"meter"}})) {
///         findings.push_back(finding);
///       }
///       return findings;
///     }
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "traffic/config/config.h"

namespace traffic::sim {

/// An approach to a conflict. A conflict is a place where streams of traffic meet.
struct ApproachStudy {
  std::string edge;
  int lanes = 0;
  bool minor = false;  ///< all its lanes give way or end
  bool major = false;  ///< none of its lanes gives way or ends
  double speed_limit_mps = 0;
  bool lit = false;     ///< whether a light at its stop line or upstream releases its vehicles
  double vehicles = 0;  ///< expected vehicles, counted over the routes whose edges the files list
  bool may_yield = false;  ///< whether it is `major` and meets a stream released by a light
};

struct ConflictStudy {
  std::string id;
  std::vector<ApproachStudy> approaches;
  int exit_lanes = 0;  ///< lanes of the edges to which the approaches lead
};

/// Expected vehicles of one type.
struct TypeDemand {
  double vehicles = 0;
  double past_conflicts = 0;  ///< vehicles whose route passes a conflict. If the files do not list
                              ///< the route, its vehicles count if the network has a conflict
};

struct NetworkStudy {
  std::string scenario;  ///< name or path that the user gave
  std::filesystem::path sumocfg;
  std::vector<ConflictStudy> conflicts;
  int lights = 0;
  int trainable_lights = 0;  ///< lights whose programs have two greens or more

  std::map<std::string, TypeDemand> types;
  std::map<std::string, double> routes;  ///< vehicles by route: its id or "first edge to last edge"
  double vehicles = 0;                   ///< expected until the end of the episode; without an
                                         ///< end, flows that never end are counted for an hour
  double written_out = 0;                ///< vehicles on routes whose edges the files list
  double random_vehicles = 0;            ///< vehicles whose departure times depend on the seed
  bool demand_without_end = false;       ///< a flow ends only with the simulation
  double last_depart_s = 0;              ///< time of the last departure, since the begin
  bool demand_elsewhere = false;         ///< a saved state adds vehicles that were not counted
  /// Elements of the files whose vehicles only a simulation can count, such as "calibrator". The
  /// counts above include the vehicles that departed in a short simulation, if one was run.
  std::vector<std::string> uncounted_sources;
  bool demand_is_certain = true;     ///< only the vehicles counted above can depart
  std::vector<std::string> outputs;  ///< output that the files request; runs do not write it

  double begin_s = 0;
  std::optional<double> end_s;  ///< SUMO's time; none: the scenario has no <end>
  double step_length_s = 1.0;
  double time_to_teleport_s = 300.0;  ///< 0 or less: never
  double max_depart_delay_s = -1.0;   ///< below 0: vehicles wait to enter without limit
};

enum class Severity : std::uint8_t {
  kSaid,     ///< information, mostly about a setting that was made for the user
  kWarning,  ///< makes the results of a run less reliable
  kError,    ///< makes a run pointless
};

struct StudyFinding {
  Severity severity = Severity::kSaid;
  std::string key;     ///< key of the configuration, such as env.cv_types
  std::string found;   ///< the problem, such as "no vehicle is of type 'cv'"
  std::string remedy;  ///< the remedy, or the setting that was made

  /// "no vehicle is of type 'cv'; types are hv 75 %, car 25 %: set env.cv_types = ["car"]"
  [[nodiscard]] std::string text() const { return found + ": " + remedy; }
};

/// The controllers that a run evaluates or trains on the scenario.
struct StudyUse {
  std::vector<std::string> controllers{};  ///< names of the compared controllers, such as "meter"
  bool learns = false;                     ///< whether a controller is trained
};

/// Reads the scenario's files. If they do not say which vehicles depart, SUMO simulates the first
/// minute of the traffic. The process must not have loaded a simulation, since
/// libsumo can run only one.
/// @throws DataError if a file cannot be read
NetworkStudy study_network(const config::Env& env, const std::string& scenario);

/// Expected number of vehicles that are connected by env.cv_types or env.cv_share.
double connected_vehicles(const NetworkStudy& study, const config::Env& env);
/// Length of an episode: env.max_time_s or, if this is 0, the time until the scenario's own end;
/// nothing if the scenario has no end either.
std::optional<double> duration_s(const NetworkStudy& study, const config::Env& env);

// The following functions say whether a script (a built-in rule) has something to do. The script
// names are those of configurations.

/// Whether an approach gives way or ends, so that `meter` could hold vehicles on it.
bool can_meter(const NetworkStudy& study);
/// Whether a main stream meets a stream released by a light, so that `yield` could hold the main
/// stream.
bool can_yield(const NetworkStudy& study);
/// Whether an approach gives way to another approach, whose vehicles `let_in` could stop.
bool can_let_in(const NetworkStudy& study);
/// Whether an approach with the right of way has at least this many lanes, so that `vsl` could slow
/// its vehicles down.
bool can_limit_speed(const NetworkStudy& study, int lanes);
/// Whether an approach has several lanes, so that `sort` could move vehicles between them.
bool can_sort(const NetworkStudy& study);

/// Sets keys that the user has left at their defaults, if only one value makes sense. It may set
/// the end of the episode after the last departure. If no vehicle is connected and exactly
/// one vehicle type has a name that suggests connected vehicles (such as "cav"), it sets this type
/// as connected.
/// @return the settings that were made
std::vector<StudyFinding> set_the_obvious(const NetworkStudy& study, config::Env& env);

/// Finds the problems of a run with this configuration.
std::vector<StudyFinding> judge(const NetworkStudy& study, const config::Config& config,
                                const StudyUse& use);

/// One line: "merge: 1 conflict, 2 approaches (1 minor, 1 major), no lights; 975 vehicles ..."
std::string summary_line(const NetworkStudy& study, const config::Env& env);

/// Summaries and findings of all scenarios of a configuration.
struct NetworkReport {
  std::vector<std::string> summaries;  ///< one line for each scenario
  std::vector<StudyFinding> findings;  ///< each begins with the name of its scenario
};
/// Studies all scenarios of the configuration.
/// @param config if it has only one scenario, set_the_obvious() changes it
NetworkReport look_at_networks(config::Config& config, const StudyUse& use);
/// Refuses a run with findings that make it pointless.
/// @throws ConfigError with a line for each of these findings
void require_usable(const std::vector<StudyFinding>& findings);

}  // namespace traffic::sim
