/// Checks a machine before a long run: whether ranks, devices, communication, simulations and the
/// run folder meet the needs of a configuration. Also tries controllers in a network before they
/// are used there.
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
  std::string subject = {};  ///< name of the check: one or two words, or a configuration key
  std::string found = {};    ///< the result and, if something is wrong, the remedy
  ExitCode code = ExitCode::kInternal;  ///< if failed: the exit code with which a run would end
  std::string details = {};  ///< further facts for programs, as a JSON object; may be empty
};

/// Needs of a run in addition to ranks, devices and a folder.
struct Needs {
  bool data = false;
  bool simulations = false;
};
/// Needs of the trainings that run.phase names.
Needs needs_of(const config::Config& config);

/// Collective. Tries the first actions of a run with this configuration. A failure becomes a
/// finding, and the remaining checks still run.
/// @return on rank 0 the findings in the order of the checks; empty on the other ranks
/// @throws CommError if ranks do not answer each other
std::vector<Finding> examine(const comm::MpiSession& session, const config::Config& config,
                             const Needs& needs);

/// Which agents must be able to act in a network: all that env.agents names, or at least one of
/// vehicles and lights.
enum class Actors : std::uint8_t { kNamed, kAny };

/// Checks the files of a configuration's scenarios. Simulates each scenario whose files pass,
/// without control and for at most some seconds of real time. Call it on one rank.
std::vector<Finding> examine_network(const config::Config& config, Actors actors);

/// The trial of controllers that somebody wants to use in a network.
struct ControllersToTry {
  std::vector<std::string> controllers;  ///< as for traffic_eval
  std::string scenario;                  ///< a .sumocfg or the name of a shipped scenario
  double minutes = 1.0;                  ///< real time that the trial may take
};

struct ControllerTrial {
  std::vector<Finding>
      findings;       ///< the last one has the subject "recommendation", unless a check failed
  std::string table;  ///< main metrics of all controllers; may be empty
};

/// Runs the controllers and no control on the same seeds, and recommends what to use. Starts a
/// process for each episode: call it before this process starts threads or MPI. A stop request
/// (core/signals.h) ends it early, with the results so far.
/// @param say called with lines for the user while the controllers run
ControllerTrial try_controllers(const ControllersToTry& wish, const config::CommonOptions& options,
                                const std::function<void(const std::string&)>& say);

/// One line per finding, then the counts by verdict.
std::string to_text(std::span<const Finding> findings);
/// A JSON array with one object per finding. Details are members of the object.
std::string to_json(std::span<const Finding> findings);
/// Exit code of the first failure; kDone if there is none.
ExitCode exit_code(std::span<const Finding> findings);

}  // namespace traffic::train
