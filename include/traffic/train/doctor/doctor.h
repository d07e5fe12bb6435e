/// What can be known of a machine before something long is started on it: whether ranks, devices,
/// communication, simulations and the run's folder are what a configuration needs.
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
  std::string subject = {};             ///< what was looked at, in a word
  std::string found = {};               ///< and what to do where it is not right
  ExitCode code = ExitCode::kInternal;  ///< of a failure: what a run would end with
};

/// What a run needs beside ranks, devices and a folder.
struct Needs {
  bool data = false;
  bool simulations = false;
};
/// Of the trainings that run.phase names.
Needs needs_of(const config::Config& config);

/// Collective: tries what a run with this configuration does first. What fails is a finding, and
/// the rest is looked at all the same.
/// @return on rank 0, in the order of the examination; nothing on the others
/// @throws CommError if ranks do not answer each other
std::vector<Finding> examine(const comm::MpiSession& session, const config::Config& config,
                             const Needs& needs);

/// Who is to act in a network: whom env.agents names, or whoever can.
enum class Actors : std::uint8_t { kNamed, kAny };

/// Looks at the scenarios of a configuration: their files, and some seconds without control. For
/// one rank.
std::vector<Finding> examine_network(const config::Config& config, Actors actors);

/// A line each, and their numbers.
std::string to_text(std::span<const Finding> findings);
/// An array with an object each.
std::string to_json(std::span<const Finding> findings);
/// That of the first failure; kDone without one.
ExitCode exit_code(std::span<const Finding> findings);

}  // namespace traffic::train
