/// Checks a machine before a long run: whether ranks, devices, communication, simulations and the
/// run folder meet the needs of a configuration.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "traffic/comm/mpi_session.h"
#include "traffic/config/config.h"
#include "traffic/core/error.h"

namespace traffic::train {

enum class Verdict : std::uint8_t { kOk, kWarning, kFailed };

struct Finding {
  Verdict verdict = Verdict::kOk;
  std::string subject = {};             ///< the object of the check, in a word
  std::string found = {};               ///< the result, and how to mend it if it is wrong
  ExitCode code = ExitCode::kInternal;  ///< of a failure: the exit code that a run would end with
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

/// Agents that must be able to act in a network: those that env.agents names, or any.
enum class Actors : std::uint8_t { kNamed, kAny };

/// Checks the scenarios of a configuration: their files, and some seconds of simulation without
/// control. Call it on one rank.
std::vector<Finding> examine_network(const config::Config& config, Actors actors);

/// One line per finding, then the counts by verdict.
std::string to_text(std::span<const Finding> findings);
/// A JSON array with one object per finding.
std::string to_json(std::span<const Finding> findings);
/// Exit code of the first failure; kDone if there is none.
ExitCode exit_code(std::span<const Finding> findings);

}  // namespace traffic::train
