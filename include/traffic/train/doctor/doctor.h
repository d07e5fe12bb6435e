/// The library of traffic_doctor. It checks before a long run whether ranks, devices,
/// communication, simulations and the run folder meet the needs of a configuration. It also tries
/// controllers in a network before a user relies on them there.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "traffic/comm/mpi_session.h"
#include "traffic/config/command_line.h"
#include "traffic/config/config.h"
#include "traffic/core/error.h"

namespace traffic::train {

enum class Verdict : std::uint8_t { kOk, kWarning, kFailed };

struct Finding {
  Verdict verdict = Verdict::kOk;
  std::string subject = {};  ///< name of the check, as one or two words or a configuration key
  std::string found = {};    ///< the result and, if something is wrong, the remedy
  /// Exit code with which a run would end, if the check failed.
  ExitCode code = ExitCode::kInternal;
  std::string details = {};  ///< further facts for programs, as a JSON object; may be empty
};

/// The needs of a run in addition to ranks, devices and a folder.
struct Needs {
  bool data = false;         ///< recorded data sets
  bool simulations = false;  ///< simulations with SUMO
};
/// Needs of the trainings that run.phase names.
Needs needs_of(const config::Config& config);

/// Collective. Does what a run with this configuration does first, such as communicating, reading
/// data and starting simulations. A failure becomes a finding, and the remaining checks still run.
/// @return on rank 0 the findings in the order of the checks; empty on the other ranks
/// @throws CommError if ranks do not answer each other
std::vector<Finding> examine(const comm::MpiSession& session, const config::Config& config,
                             const Needs& needs);

/// The agents that must be able to act in a network. kNamed requires all agents that env.agents
/// names. kAny requires at least one of vehicles and lights.
enum class Actors : std::uint8_t { kNamed, kAny };

/// Checks the files of a configuration's scenarios. Then simulates each scenario whose files have
/// no error, without control and for a few seconds of real time at most. Call it on one rank.
std::vector<Finding> examine_network(const config::Config& config, Actors actors);

/// The controllers that a user wants to try in a network, and the time for it.
struct ControllersToTry {
  std::vector<std::string> controllers;  ///< names as in the option --controller of traffic_eval
  std::string scenario;                  ///< a .sumocfg file or the name of a shipped scenario
  double minutes = 1.0;                  ///< real time that the trial may take
};

struct ControllerTrial {
  /// Results of the checks; if none failed, the last one has the subject "recommendation".
  std::vector<Finding> findings;
  std::string table;  ///< main metrics of all controllers; empty if there are no results
};

/// Runs the controllers, and the traffic without control, on the same seeds, and recommends what to
/// use. It forks a process for each episode, so call it before this process starts threads or MPI.
/// A stop request (core/signals.h) ends it early, with the results so far.
/// @param say called with progress lines for the user while the controllers run
ControllerTrial try_controllers(const ControllersToTry& wish, const config::CommonOptions& options,
                                const std::function<void(const std::string&)>& say);

/// One line per finding, then the counts by verdict.
std::string to_text(std::span<const Finding> findings);
/// A JSON array with one object per finding. The facts in Finding::details become members of that
/// object.
std::string to_json(std::span<const Finding> findings);
/// Exit code of the first failure; kDone if there is none.
ExitCode exit_code(std::span<const Finding> findings);

}  // namespace traffic::train
