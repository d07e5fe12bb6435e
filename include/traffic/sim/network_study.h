/// A look at a scenario before it is simulated: its network, demand and options as its files have
/// them, and what follows for a run with a configuration.
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

struct ApproachStudy {
  std::string edge;
  int lanes = 0;
  bool minor = false;
  bool major = false;
  double speed_limit_mps = 0;
  bool lit = false;        ///< a light at the stop line, or one upstream, releases it
  double vehicles = 0;     ///< on routes that are written out, over the whole demand
  bool may_yield = false;  ///< major, and meets a stream that a light releases
};

struct ConflictStudy {
  std::string id;
  std::vector<ApproachStudy> approaches;
  int exit_lanes = 0;  ///< of the edges that its approaches lead to
};

/// Expected vehicles of one type.
struct TypeDemand {
  double vehicles = 0;
  double past_conflicts = 0;  ///< on routes with a conflict; those whose route is not written out
                              ///< count as such
};

struct NetworkStudy {
  std::string scenario;  ///< as it was asked for
  std::filesystem::path sumocfg;
  std::vector<ConflictStudy> conflicts;
  int lights = 0;
  int trainable_lights = 0;  ///< those whose programs have two greens or more

  std::map<std::string, TypeDemand> types;
  std::map<std::string, double> routes;  ///< vehicles by name, or by "first edge to last edge"
  double vehicles = 0;                   ///< expected until the end of the episode
  double written_out = 0;                ///< of those on routes with all their edges
  double random_vehicles = 0;            ///< of those that depart otherwise with another seed
  bool demand_without_end = false;       ///< a flow that only the end of the simulation ends
  double last_depart_s = 0;              ///< since the begin
  bool demand_elsewhere = false;         ///< a saved state or a script brings more vehicles

  double begin_s = 0;
  std::optional<double> end_s;  ///< of <end>, SUMO's time
  double step_length_s = 1.0;
  double time_to_teleport_s = 300.0;  ///< 0 or less: never
};

enum class Severity : std::uint8_t {
  kSaid,     ///< was set, because it is obvious
  kWarning,  ///< weakens a run
  kError,    ///< makes it pointless
};

struct StudyFinding {
  Severity severity = Severity::kSaid;
  std::string key;     ///< of the configuration: env.cv_types
  std::string found;   ///< what is wrong
  std::string remedy;  ///< what to do, or what was set

  /// "no vehicle is of type 'cv'; types are hv 75 %, car 25 %: env.cv_types = ["car"]"
  [[nodiscard]] std::string text() const { return found + ": " + remedy; }
};

/// What is to be done with a network.
struct StudyUse {
  std::vector<std::string> controllers{};  ///< to be compared; none alone needs no vehicle
  bool learns = false;                     ///< a controller is trained
};

/// Reads the files. SUMO is not started.
/// @throws DataError if one of them cannot be read
NetworkStudy study_network(const config::Env& env, const std::string& scenario);

/// Expected vehicles that are connected by env.cv_types or env.cv_share.
double connected_vehicles(const NetworkStudy& study, const config::Env& env);
/// The end of an episode since its begin: env.max_time_s or the scenario's own.
std::optional<double> duration_s(const NetworkStudy& study, const config::Env& env);

/// Whether there is an approach that `meter` could hold: one that gives way or ends.
bool can_meter(const NetworkStudy& study);
/// Whether there is a main stream that meets one released by a light, which `yield` holds.
bool can_yield(const NetworkStudy& study);
/// Whether there is an approach that gives way to another one, which `let_in` stops.
bool can_let_in(const NetworkStudy& study);
/// Whether there is an approach that goes first, with as many lanes at least, which `vsl` slows
/// down.
bool can_limit_speed(const NetworkStudy& study, int lanes);
/// Whether there is an approach with several lanes, among which `sort` has vehicles change.
bool can_sort(const NetworkStudy& study);

/// Sets what the defaults of env leave open and the scenario answers without doubt: an end after
/// the last departure, and the only vehicle type whose name looks like that of a connected one.
/// @return what was set
std::vector<StudyFinding> set_the_obvious(const NetworkStudy& study, config::Env& env);

/// What is wrong with a run of this configuration.
std::vector<StudyFinding> judge(const NetworkStudy& study, const config::Config& config,
                                const StudyUse& use);

/// One line: "merge: 1 conflict, 2 approaches (1 minor, 1 major), no lights; 975 vehicles ..."
std::string summary_line(const NetworkStudy& study, const config::Env& env);

/// The above for every scenario of the configuration.
struct NetworkReport {
  std::vector<std::string> summaries;  ///< a line each
  std::vector<StudyFinding> findings;  ///< those of one scenario begin with its name
};
/// @param config gets what is obvious; where several scenarios are mixed, nothing is set
NetworkReport look_at_networks(config::Config& config, const StudyUse& use);
/// @throws ConfigError with a line for each error
void require_usable(const std::vector<StudyFinding>& findings);

}  // namespace traffic::sim
