/// The start-up that all MPI programs share: reads the command line and the configuration, then
/// starts MPI. The main() of such a program calls run_rank_program().
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

/// Work that starts processes and therefore must be over before MPI starts.
/// @param is_first whether this process is rank 0; processes of other ranks should do nothing
/// @return the exit code if the program should end; nothing if it should go on and start MPI
using WorkWithoutMpi = std::function<std::optional<int>(const Start&, bool is_first)>;

/// Runs `body` under MPI. If the command line only asks for a text (help, version, configuration),
/// prints that text instead. Errors in the command line or the configuration are reported once,
/// before MPI, a GPU or a simulation starts.
/// @param first called on every rank before MPI starts, if it is not empty
/// @return the program's exit code
int run_rank_program(int argc, char** argv, const config::Program& program,
                     const std::function<int(const Start&, comm::MpiSession&)>& body,
                     const WorkWithoutMpi& first = {});

}  // namespace traffic::train
