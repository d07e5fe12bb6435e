#include "traffic/train/run.h"

#include <spdlog/spdlog.h>
#include <torch/version.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <utility>

#include "run_folder_choice.h"
#include "traffic/checkpoint/file.h"
#include "traffic/config/write.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/core/hash.h"
#include "traffic/core/process.h"
#include "traffic/core/version.h"
#include "traffic/report/logging.h"

namespace traffic::train {
namespace {

namespace fs = std::filesystem;

std::uint64_t hash_of_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  Hasher hasher;
  std::vector<char> block(std::size_t{1} << 20U);
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())), in.gcount() > 0) {
    hasher.update(std::string_view(block.data(), static_cast<std::size_t>(in.gcount())));
  }
  return hasher.digest();
}

/// Two ranks that run different programs or configurations would compute different things.
void check_same_program(const config::Config& config, comm::Communicator& communicator) {
  config::Config shared = config;
  shared.run.dir.clear();  // may be spelt differently on another node
  communicator.all_agree(config::config_hash(shared), "the configuration");
  communicator.all_agree(hash_of_file("/proc/self/exe"), "the program (its binary)");
}

}  // namespace

Run::Run(const config::Config& config, comm::MpiSession& session)
    : config_(config), save_failures_(config.checkpoint.max_save_failures) {
  communicator_ =
      comm::make_communicator(session, choose_device(config.run.device, session), config.comm);
  check_same_program(config_, *communicator_);
  choose_folder();
  open_folder();
  find_resume_point();
}

void Run::choose_folder() {
  std::string dir;
  if (is_reporter()) dir = choose_run_dir(config_).string();
  folder_ = report::RunFolder(communicator_->broadcast_string(dir, 0));
}

void Run::open_folder() {
  if (is_reporter()) {
    report::create_run_folder(folder_.root().string(), config_.run.name);
    lock_ = std::make_unique<checkpoint::RunLock>(folder_.root());
    write_file_atomically(folder_.config(), run_identity(config_));
    write_environment();
    checkpoints_ = std::make_unique<checkpoint::CheckpointManager>(folder_.checkpoints(),
                                                                   config_.checkpoint.keep_last);
  }
  communicator_->barrier();  // the folder is there now
  report::LogOptions log;
  log.dir = folder_.logs();
  log.rank = communicator_->rank();
  log.world_size = communicator_->size();
  log.level = config_.log.level;
  report::init_logging(log);
  spdlog::info("run folder {}, {} ranks on {} nodes, device {}", folder_.root().string(),
               communicator_->size(), communicator_->topology().num_nodes(),
               communicator_->device().str());
  if (lock_ && !lock_->taken_over_from().empty()) {
    spdlog::warn("the last run in this folder ended without letting go ({})",
                 lock_->taken_over_from());
  }
}

void Run::write_environment() const {
  report::Environment environment;
  environment.program = "traffic_train";
  environment.version = version();
  environment.compiler = __VERSION__;
  environment.world_size = communicator_->size();
  environment.libraries = {{"torch", TORCH_VERSION}};
  report::write_environment(folder_, environment);
}

void Run::find_resume_point() {
  std::string path;
  const std::string& resume = config_.run.resume;
  if (is_reporter() && resume == "auto") {
    const checkpoint::ResumePoint point = checkpoints_->newest_valid();
    for (const checkpoint::Rejected& rejected : point.rejected) {
      spdlog::warn("checkpoint {} passed over: {}", rejected.path.string(), rejected.reason);
    }
    if (point.snapshot) path = point.path.string();
  } else if (is_reporter() && resume != "never") {
    checkpoint::verify(resume);
    path = resume;
  }
  resume_path_ = communicator_->broadcast_string(path, 0);
}

std::optional<checkpoint::Snapshot> Run::take_resume_point() {
  std::optional<checkpoint::Snapshot> snapshot;
  if (!resume_path_.empty()) {
    snapshot = checkpoint::load(resume_path_);
    spdlog::info("going on from checkpoint {}, step {}", resume_path_.string(), snapshot->step());
  }
  if (is_reporter()) {
    const auto step = snapshot ? std::optional(snapshot->step()) : std::nullopt;
    scalars_ = std::make_unique<report::Scalars>(
        report::MetricsWriter(folder_.metrics(), step),
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
  // keep_last files, the best, the phase's result and the one being written
  if (is_reporter()) {
    checkpoint::check_folder(folder_.checkpoints(), bytes_per_checkpoint,
                             config_.checkpoint.keep_last + 3);
  }
  communicator_->barrier();
}

bool Run::save(const checkpoint::Snapshot& snapshot) {
  bool saved = true;
  if (is_reporter()) {
    try {
      checkpoints_->save_step(snapshot);
      save_failures_.succeeded();
    } catch (const ResourceError& error) {
      spdlog::error("step {} could not be saved: {}", snapshot.step(), error.what());
      save_failures_.failed(error.what());
      saved = false;
    }
  }
  return communicator_->all_reduce_scalar(saved ? 1.0 : 0.0, comm::ReduceOp::kMin) > 0.0;
}

void Run::mark_best(std::int64_t step) {
  if (is_reporter()) checkpoints_->mark_best(step);
  communicator_->barrier();
}

fs::path Run::best_path() const { return folder_.checkpoints() / "best.h5"; }

void Run::keep_phase_result(std::int64_t phase) {
  if (is_reporter()) {
    checkpoint::save(checkpoint::load(best_path()),
                     checkpoints_->phase_path(static_cast<int>(phase)));
  }
  communicator_->barrier();
}

void Run::write_summary(report::Summary summary) {
  const at::Tensor mine = at::full({1}, peak_rss_bytes(), at::kLong);
  const at::Tensor all = communicator_->all_gather(mine).view({-1});
  summary.peak_rss_bytes.assign(all.data_ptr<std::int64_t>(),
                                all.data_ptr<std::int64_t>() + all.numel());
  summary.faults["failed_saves"] = save_failures_.total();
  summary.world_size = communicator_->size();
  summary.faults["lost_log_lines"] = static_cast<std::int64_t>(report::num_lost_log_lines());
  if (scalars_)
    summary.faults["lost_metrics_lines"] = static_cast<std::int64_t>(scalars_->num_lost());
  if (is_reporter()) report::write_summary(folder_.summary(), summary);
}

}  // namespace traffic::train
