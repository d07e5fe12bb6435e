#include "preparation.h"

#include <spdlog/spdlog.h>

#include <string>

#include "run/folder_choice.h"
#include "run/together.h"
#include "traffic/config/write.h"
#include "traffic/core/atomic_file.h"
#include "traffic/train/run/training.h"

namespace traffic::train {

TrainingEnd prepare_task(Job& job, TrainingTask& task, bool dry_run) {
  const std::string asked = config::to_toml(task.config);
  const TrainingEnd end = prepare({.config = task.config,
                                   .communicator = job.communicator(),
                                   .session = job.session(),
                                   .dir = job.folder().root(),
                                   .dry_run = dry_run});
  if (end == TrainingEnd::kStopped) {
    spdlog::info("stopped by request before {} began", task.facts->title());
    return end;
  }
  const report::RunFolder folder(task.dir);
  const std::string found = config::to_toml(task.config);
  const bool differs = found != asked && !dry_run;
  task.config_path = differs ? folder.resolved() : folder.config();
  together(job.communicator(), [&] {
    if (!differs || !job.is_reporter()) return;
    create_folder(task.dir);
    write_file_atomically(task.config_path, found);
  });
  return end;
}

}  // namespace traffic::train
