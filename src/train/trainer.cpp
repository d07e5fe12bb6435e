#include "traffic/train/trainer.h"

#include <fmt/format.h>
#include <torch/utils.h>

#include "coordinator.h"
#include "monitor/device_choice.h"
#include "traffic/core/crash.h"
#include "traffic/core/error.h"
#include "traffic/core/signals.h"
#include "traffic/model/memory.h"
#include "traffic/train/run/job.h"
#include "traffic/train/run/program.h"

namespace traffic::train {
namespace {

int run_job(const Start& start, comm::MpiSession& session) {
  install_stop_handlers();
  install_crash_handlers(fmt::format("rank {}", session.rank()));
  model::pool_all_tensors();
  torch::set_num_threads(choose_threads(start.plan.whole.run.threads_per_rank, session));
  Job job(start.plan, session);
  if (start.options.dry_run) {
    dry_run_plan(job, start.plan);
    return static_cast<int>(ExitCode::kDone);
  }
  return static_cast<int>(exit_code(run_plan(job, start.plan)));
}

}  // namespace

int run_trainer(int argc, char** argv, const config::Program& program,
                const std::vector<TrainingRow>& trainings) {
  register_trainings(trainings);
  return run_rank_program(argc, argv, program, run_job);
}

}  // namespace traffic::train
