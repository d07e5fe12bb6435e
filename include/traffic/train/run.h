/// What the phases of a run share: ranks, device, run folder, logs, figures, checkpoints.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "traffic/checkpoint/manager.h"
#include "traffic/checkpoint/run_lock.h"
#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"
#include "traffic/report/metrics.h"
#include "traffic/report/run_folder.h"
#include "traffic/report/summary.h"

namespace traffic::train {

/// One a rank and process. Everything that only one rank may do (write checkpoints, figures, the
/// summary) is done by rank 0 inside; callers call it on all ranks.
class Run {
 public:
  /// Collective. Chooses the run folder (run.dir, an unfinished run of the same configuration, or a
  /// new one), locks it, opens logs and figures, and finds the checkpoint to go on from.
  /// @throws ConfigError, ResourceError, CheckpointError, CommError
  Run(const config::Config& config, comm::MpiSession& session);

  [[nodiscard]] const config::Config& config() const { return config_; }
  [[nodiscard]] comm::Communicator& communicator() { return *communicator_; }
  [[nodiscard]] bool is_reporter() const { return communicator_->rank() == 0; }
  [[nodiscard]] const std::filesystem::path& dir() const { return folder_.root(); }

  /// The checkpoint to go on from, loaded by every rank; nothing for a new run.
  [[nodiscard]] std::optional<checkpoint::Snapshot> take_resume_point();

  /// One line of figures at a step.
  void write_metrics(std::int64_t step, const report::NamedValues& values);

  /// Refuses a disk without room for the checkpoints of this run, before any work is done.
  /// @throws ResourceError on all ranks
  void check_room(std::int64_t bytes_per_checkpoint);
  /// A failure to save is logged and counted; training goes on until there were too many in a row.
  /// @return whether it was saved, the same on all ranks
  bool save(const checkpoint::Snapshot& snapshot);
  void mark_best(std::int64_t step);
  /// Path of the best checkpoint so far; the same on all ranks.
  [[nodiscard]] std::filesystem::path best_path() const;
  /// Keeps the best checkpoint as the result of the phase.
  void keep_phase_result(std::int64_t phase);

  /// Fills in what is common to all phases and writes summary.json. Collective.
  void write_summary(report::Summary summary);

 private:
  void choose_folder();
  void write_environment() const;
  void open_folder();
  void find_resume_point();

  config::Config config_;
  std::unique_ptr<comm::Communicator> communicator_;
  report::RunFolder folder_{{}};
  std::filesystem::path resume_path_;  ///< empty: a new run
  std::unique_ptr<checkpoint::RunLock> lock_;
  std::unique_ptr<checkpoint::CheckpointManager> checkpoints_;
  checkpoint::SaveFailures save_failures_;
  std::unique_ptr<report::Scalars> scalars_;
};

/// The device that run.device asks for: cuda, cpu, or with auto the GPU of the node-local rank
/// where there is one for each rank.
/// @throws ConfigError, ResourceError
at::Device choose_device(const std::string& device, const comm::MpiSession& session);

/// Threads of a rank: run.threads_per_rank, or the node's cores shared evenly. Lifts mpirun's
/// binding of this process to a core; to be called before other threads are started.
int choose_threads(std::int64_t threads_per_rank, const comm::MpiSession& session);

}  // namespace traffic::train
