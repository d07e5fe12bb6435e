#include "traffic/train/run/run.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "run/folder_choice.h"
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
    : job_(job),
      config_(config),
      facts_(config::get_training(config.run.phase)),
      folder_(dir),
      save_failures_(config.checkpoint.max_save_failures) {
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
    path = find_resume_point();
  });
  resume_path_ = communicator().broadcast_string(path, 0);
}

std::string Run::find_resume_point() {
  const std::string& resume = config_.run.resume;
  if (resume == "auto") {
    const checkpoint::ResumePoint point = checkpoints_->newest_valid();
    for (const checkpoint::Rejected& rejected : point.rejected) {
      spdlog::warn("checkpoint {} passed over: {}", rejected.path.string(), rejected.reason);
    }
    return point.path.string();
  }
  if (resume == "never") return {};
  checkpoint::verify(resume);
  const fs::path aside = checkpoints_->leave_behind(resume);
  if (!aside.empty()) {
    spdlog::warn("checkpoints of this folder that do not lead to {} are now in {}", resume,
                 aside.string());
  }
  checkpoints_->take_best_along(resume);
  return resume;
}

std::optional<checkpoint::Snapshot> Run::take_resume_point() {
  std::optional<checkpoint::Snapshot> snapshot;
  if (!resume_path_.empty()) {
    snapshot = checkpoint::load(resume_path_);
    spdlog::info("going on from checkpoint {}, step {}", resume_path_.string(), snapshot->step());
  }
  if (is_reporter()) {
    if (snapshot) warn_of_unknown_settings(*snapshot);
    // What an attempt without a checkpoint has left is dropped, too.
    const auto step = snapshot ? std::optional(snapshot->step()) : std::nullopt;
    scalars_ = std::make_unique<report::Scalars>(
        report::MetricsWriter(folder_.metrics(), step.value_or(-1)),
        config_.log.tensorboard ? std::make_unique<report::EventWriter>(folder_.tensorboard(), step)
                                : nullptr);
  }
  return snapshot;
}

void Run::write_metrics(std::int64_t step, const report::NamedValues& values) {
  if (!scalars_) return;
  for (const auto& [name, value] : values) scalars_->set(name, value);
  scalars_->write(step);
}

void Run::check_room(std::int64_t bytes_per_checkpoint) {
  // keep_last files, the best, the result and the one being written
  together(communicator(), [&] {
    if (!is_reporter()) return;
    checkpoint::check_folder(folder_.checkpoints(), bytes_per_checkpoint,
                             config_.checkpoint.keep_last + 3);
  });
}

/// Of every rank. @return on rank 0 why one could not; empty if all could
std::string Run::write_parts(const checkpoint::Snapshot& snapshot) {
  if (communicator().all_reduce_scalar(static_cast<double>(snapshot.parts().size())) == 0.0) {
    return {};
  }
  std::string why;
  try {
    checkpoint::write_parts(snapshot, folder_.checkpoints());
  } catch (const Error& error) {
    why = error.what();
  }
  const std::vector<std::string> of_ranks = communicator().gather_strings(why, 0);
  const auto failed = std::ranges::find_if_not(of_ranks, &std::string::empty);
  return failed == of_ranks.end() ? std::string() : *failed;
}

bool Run::try_to_save(const checkpoint::Snapshot& snapshot, const std::function<void()>& work) {
  const std::int64_t step = snapshot.step();
  const std::string without_parts = write_parts(snapshot);
  constexpr double kSaved = 1.0;
  constexpr double kFailed = 0.0;
  constexpr double kGivenUp = -1.0;
  double outcome = kSaved;
  std::string why;
  if (is_reporter()) {
    try {
      if (!without_parts.empty()) throw ResourceError("{}", without_parts);
      work();
      save_failures_.succeeded();
    } catch (const Error& error) {
      spdlog::error("step {} could not be saved: {}", step, error.what());
      outcome = kFailed;
      try {
        save_failures_.failed(error.what());
      } catch (const ResourceError& last) {
        outcome = kGivenUp;
        why = last.what();
      }
    }
  }
  outcome = communicator().all_reduce_scalar(outcome, comm::ReduceOp::kMin);
  if (outcome == kGivenUp) throw ResourceError(communicator().broadcast_string(why, 0));
  return outcome == kSaved;
}

bool Run::save(const checkpoint::Snapshot& snapshot, bool best) {
  return try_to_save(snapshot, [&] {
    checkpoints_->save_step(snapshot);
    if (best) checkpoints_->mark_best(snapshot.step());
  });
}

bool Run::save_best(const checkpoint::Snapshot& snapshot) {
  return try_to_save(snapshot, [&] { checkpoint::save(snapshot, checkpoints_->best_path()); });
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
  summary.faults["failed_saves"] = save_failures_.total();
  summary.world_size = communicator().size();
  summary.faults["lost_log_lines"] = static_cast<std::int64_t>(report::num_lost_log_lines());
  if (scalars_)
    summary.faults["lost_metrics_lines"] = static_cast<std::int64_t>(scalars_->num_lost());
  if (is_reporter()) report::write_summary(folder_.summary(), summary);
}

}  // namespace traffic::train
