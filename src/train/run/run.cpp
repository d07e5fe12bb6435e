#include "traffic/train/run/run.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "run/folder_choice.h"
#include "run/node_files.h"
#include "run/part_files.h"
#include "run/snapshot_parts.h"
#include "run/together.h"
#include "traffic/checkpoint/file.h"
#include "traffic/checkpoint/parts.h"
#include "traffic/config/write.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/core/process.h"
#include "traffic/report/logging.h"

namespace traffic::train {
namespace fs = std::filesystem;

Run::Run(Job& job, const config::Config& config, const fs::path& dir)
    : job_(job), config_(config), facts_(config::get_training(config.run.phase)), folder_(dir) {
  std::string path;
  together(communicator(), [&] {
    if (!is_reporter()) return;
    create_folder(folder_.root());
    remove_stale_temporaries(folder_.root());
    if (dir != job.folder().root()) {
      write_file_atomically(folder_.config(), config::to_toml(config));
    }
    checkpoints_ = std::make_unique<checkpoint::CheckpointManager>(
        folder_.checkpoints(), config_.checkpoint.keep_last, std::string(facts_.folder));
    saver_ = std::make_unique<checkpoint::Saver>(
        *checkpoints_, config_.checkpoint.max_save_failures,
        [](std::int64_t step, const std::string& why) {
          spdlog::error("the checkpoint of step {} could not be saved: {}", step, why);
        },
        [](const checkpoint::Rejected& rejected) {
          spdlog::warn("{} cannot be read, so its part files may be removed: {}",
                       rejected.path.string(), rejected.reason);
        });
    path = find_resume_point();
  });
  resume_path_ = communicator().broadcast_string(path, 0);
  bring_file(communicator(), resume_path_.empty() ? fs::path(config_.run.init_from) : resume_path_);
  if (!job_.all_see_folder() && !resume_path_.empty()) bring_parts(communicator(), resume_path_);
}

std::string Run::find_resume_point() {
  const std::string& resume = config_.run.resume;
  if (resume == "auto" || resume == "must") {  // choose_run_dir() has checked that "must" finds a
                                               // checkpoint
    const checkpoint::ResumePoint point = checkpoints_->newest_valid();
    for (const checkpoint::Rejected& rejected : point.rejected) {
      spdlog::warn("checkpoint {} is skipped: {}", rejected.path.string(), rejected.reason);
    }
    return point.path.string();
  }
  if (resume == "never") return {};
  checkpoint::verify(resume);
  const fs::path aside = checkpoints_->leave_behind(resume);
  if (!aside.empty()) {
    spdlog::warn(
        "this run continues from {}; later or unrelated checkpoints of this folder were moved to "
        "{}",
        resume, aside.string());
  }
  checkpoints_->take_best_along(resume);
  return resume;
}

std::optional<checkpoint::Snapshot> Run::take_resume_point() {
  std::optional<checkpoint::Snapshot> snapshot;
  if (!resume_path_.empty()) {
    snapshot = checkpoint::load(resume_path_);
    spdlog::info("going on from checkpoint {}, step {}", resume_path_.string(), snapshot->step());
    resumed_step_ = snapshot->step();
    if (is_reporter()) log_origin(*snapshot, communicator().size());
  }
  if (snapshot) origin_ = origin_of(*snapshot);
  if (origin_.id.empty()) origin_ = make_origin(is_new() ? config_.run.init_from : "");
  if (is_reporter()) {
    if (snapshot) warn_of_unknown_settings(*snapshot);
    // Metrics after the resumed step are removed; in a new run, these are all metrics of an earlier
    // attempt that saved no checkpoint.
    const auto step = snapshot ? std::optional(snapshot->step()) : std::nullopt;
    scalars_ = std::make_unique<report::Scalars>(
        report::MetricsWriter(folder_.metrics(), step.value_or(-1)),
        config_.log.tensorboard ? std::make_unique<report::EventWriter>(folder_.tensorboard(), step)
                                : nullptr);
  }
  return snapshot;
}

void Run::sign(checkpoint::Snapshot& snapshot) const {
  put_origin(snapshot, origin_, job_.communicator().size());
}

void Run::write_metrics(std::int64_t step, const report::NamedValues& values) {
  if (!scalars_) return;
  for (const auto& [name, value] : values) scalars_->set(name, value);
  scalars_->write(step);
}

void Run::check_room(std::int64_t bytes_per_checkpoint) {
  // There must be room for keep_last checkpoints, the best one, the result, and the file that is
  // being written.
  together(communicator(), [&] {
    if (!is_reporter()) return;
    checkpoint::check_folder(folder_.checkpoints(), bytes_per_checkpoint,
                             config_.checkpoint.keep_last + 3);
  });
}

/// Writes the parts of all ranks. Collective.
/// @return on rank 0 the reason why a rank could not write its parts; empty on success
std::string Run::write_parts(const checkpoint::Snapshot& snapshot) {
  if (communicator().all_reduce_scalar(static_cast<double>(snapshot.parts().size())) == 0.0) {
    return {};
  }
  // After each save, the saver removes parts that no checkpoint names. The parts of this checkpoint
  // must therefore not be written while an earlier save is in progress.
  (void)wait_for_saves();
  std::string why;
  try {
    if (job_.sees_folder()) checkpoint::write_parts(snapshot, folder_.checkpoints());
  } catch (const Error& error) {
    why = error.what();
  }
  if (!job_.all_see_folder()) {
    const std::string of_others =
        write_parts_for_others(communicator(), snapshot, folder_.checkpoints(), job_.sees_folder());
    if (why.empty()) why = of_others;
  }
  const std::vector<std::string> of_ranks = communicator().gather_strings(why, 0);
  const auto failed = std::ranges::find_if_not(of_ranks, &std::string::empty);
  return failed == of_ranks.end() ? std::string() : *failed;
}

void Run::save(const checkpoint::Snapshot& snapshot, bool best) {
  const std::string without_parts = write_parts(snapshot);
  together(communicator(), [&] {
    if (!saver_) return;
    if (without_parts.empty()) {
      saver_->begin(snapshot, best);
    } else {
      saver_->give_up_on(snapshot, best, without_parts);
    }
  });
}

bool Run::has_given_up_saving() { return saver_ && saver_->has_given_up(); }

std::optional<std::int64_t> Run::wait_for_saves() {
  double step = -1.0;  // exact: steps are far below 2^53
  together(communicator(), [&] {
    if (!saver_) return;
    saver_->wait();
    if (const auto newest = saver_->saved_step() ? saver_->saved_step() : resumed_step_) {
      step = static_cast<double>(*newest);
    }
  });
  step = communicator().all_reduce_scalar(step, comm::ReduceOp::kMax);
  return step < 0.0 ? std::nullopt : std::optional(static_cast<std::int64_t>(step));
}

void Run::wait_for_best() {
  together(communicator(), [&] {
    if (saver_) saver_->wait_for_best();
  });
  bring_file(communicator(), best_path());
}

fs::path Run::best_path() const { return folder_.checkpoints() / "best.h5"; }

void Run::keep_result() {
  together(communicator(), [&] {
    if (is_reporter()) checkpoints_->mark_result();
  });
}

void Run::write_summary(report::Summary summary) {
  const at::Tensor mine = at::full({1}, peak_rss_bytes(), at::kLong);
  const at::Tensor all = communicator().all_gather(mine).view({-1});
  summary.peak_rss_bytes.assign(all.data_ptr<std::int64_t>(),
                                all.data_ptr<std::int64_t>() + all.numel());
  if (saver_) summary.faults["failed_saves"] = saver_->num_failures();
  summary.world_size = communicator().size();
  summary.faults["lost_log_lines"] = static_cast<std::int64_t>(report::num_lost_log_lines());
  if (scalars_)
    summary.faults["lost_metrics_lines"] = static_cast<std::int64_t>(scalars_->num_lost());
  if (is_reporter()) report::write_summary(folder_.summary(), summary);
}

}  // namespace traffic::train
