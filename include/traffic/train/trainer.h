/// The training program as one function, for main().
#pragma once

#include <vector>

#include "traffic/config/command_line.h"
#include "traffic/train/run/training.h"

namespace traffic::train {

/// Reads the command line, starts MPI and runs the trainings that run.phase selects.
/// @param trainings all trainings that the program offers
/// @return the program's exit code
int run_trainer(int argc, char** argv, const config::Program& program,
                const std::vector<TrainingRow>& trainings);

}  // namespace traffic::train
