/// Start-up that is common to all MPI programs, from the command line to MPI.
#pragma once

#include <functional>

#include "traffic/comm/mpi_session.h"
#include "traffic/config/command_line.h"
#include "traffic/config/load.h"

namespace traffic::train {

/// The parsed command line.
struct Start {
  config::CommonOptions options;
  config::Plan plan;
};

/// Runs body under MPI. If the command line only asks for a text (help, version), prints it
/// instead. Errors in the command line or the configuration are reported once, before MPI, a GPU or
/// a simulation starts.
/// @return the program's exit code
int run_rank_program(int argc, char** argv, const config::Program& program,
                     const std::function<int(const Start&, comm::MpiSession&)>& body);

}  // namespace traffic::train
