/// The whole of a training program, for main().
#pragma once

#include <vector>

#include "traffic/config/command_line.h"
#include "traffic/train/run/training.h"

namespace traffic::train {

/// Reads the command line, starts MPI and trains what run.phase names, of these trainings.
/// @return the program's exit code
int run_trainer(int argc, char** argv, const config::Program& program,
                const std::vector<TrainingRow>& trainings);

}  // namespace traffic::train
