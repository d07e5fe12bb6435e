/// Start-up that is common to all MPI programs, from the command line to MPI.
#pragma once

#include <functional>
#include <optional>

#include "traffic/comm/mpi_session.h"
#include "traffic/config/command_line.h"
#include "traffic/config/load.h"

namespace traffic::train {

/// The parsed command line.
struct Start {
  config::CommonOptions options;
  config::Plan plan;
};

/// Work that needs no MPI and must not run beside it, because it starts processes.
/// @param is_first whether this process is rank 0; the others should do nothing
/// @return the program's exit code; nothing: the program goes on and starts MPI
using WorkWithoutMpi = std::function<std::optional<int>(const Start&, bool is_first)>;

/// Runs body under MPI. If the command line only asks for a text (help, version), prints it
/// instead. Errors in the command line or the configuration are reported once, before MPI, a GPU or
/// a simulation starts.
/// @param first called on every rank before MPI starts; may be empty
/// @return the program's exit code
int run_rank_program(int argc, char** argv, const config::Program& program,
                     const std::function<int(const Start&, comm::MpiSession&)>& body,
                     const WorkWithoutMpi& first = {});

}  // namespace traffic::train
