/// The beginning that programs of ranks share, from the command line to MPI.
#pragma once

#include <functional>

#include "traffic/comm/mpi_session.h"
#include "traffic/config/command_line.h"
#include "traffic/config/load.h"

namespace traffic::train {

/// What the command line asks for.
struct Start {
  config::CommonOptions options;
  config::Plan plan;
};

/// Runs body under MPI, unless the command line only asks for some text, which is printed. What is
/// wrong with it or with the configuration is said once, before MPI, a GPU or a simulation starts.
/// @return the program's exit code
int run_rank_program(int argc, char** argv, const config::Program& program,
                     const std::function<int(const Start&, comm::MpiSession&)>& body);

}  // namespace traffic::train
