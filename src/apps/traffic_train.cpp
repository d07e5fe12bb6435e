/// The trainer: every rank runs this program.
#include <torch/utils.h>

#include "traffic/core/error.h"
#include "traffic/core/signals.h"
#include "traffic/model/memory.h"
#include "traffic/train/coordinator.h"
#include "traffic/train/run/program.h"

namespace {

using namespace traffic;

const config::Program kProgram{.name = "traffic_train",
                               .description =
                                   "Trains a controller of connected vehicles. Start it with "
                                   "mpirun, one rank per GPU or per CPU share."};

int run_training(const train::Start& start, comm::MpiSession& session) {
  install_stop_handlers();
  model::pool_all_tensors();
  torch::set_num_threads(train::choose_threads(start.plan.whole.run.threads_per_rank, session));
  train::Job job(start.plan, session);
  if (start.options.dry_run) {
    train::dry_run_plan(job, start.plan);
    return static_cast<int>(ExitCode::kDone);
  }
  return static_cast<int>(train::exit_code(train::run_plan(job, start.plan)));
}

}  // namespace

int main(int argc, char** argv) { return train::run_program(argc, argv, kProgram, run_training); }
