/// What outlives the phases of a run: ranks, device, the run's folder with its lock and its logs.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "traffic/checkpoint/run_lock.h"
#include "traffic/comm/communicator.h"
#include "traffic/config/load.h"
#include "traffic/report/run_folder.h"
#include "traffic/train/run/device_choice.h"

namespace traffic::train {

/// One a rank and process.
class Job {
 public:
  /// Collective. Chooses the run folder (run.dir, an unfinished run of the same configuration, or a
  /// new one), locks it, writes what was asked for and on which machine, opens the logs.
  /// @throws ConfigError, ResourceError, CommError
  Job(const config::Plan& plan, const comm::MpiSession& session);

  [[nodiscard]] const config::Config& config() const { return config_; }
  [[nodiscard]] const comm::MpiSession& session() const { return session_; }
  [[nodiscard]] comm::Communicator& communicator() { return *communicator_; }
  [[nodiscard]] bool is_reporter() const { return communicator_->rank() == 0; }
  [[nodiscard]] const report::RunFolder& folder() const { return folder_; }
  /// Whether what rank 0 writes there is seen by this rank's node, and by all.
  [[nodiscard]] bool sees_folder() const { return sees_folder_; }
  [[nodiscard]] bool all_see_folder() const { return all_see_folder_; }

 private:
  void open_folder(const config::Plan& plan);
  void log_device(const std::string& reason) const;

  config::Config config_;  ///< what the phases share
  const comm::MpiSession& session_;
  std::unique_ptr<comm::Communicator> communicator_;
  report::RunFolder folder_{{}};
  std::unique_ptr<checkpoint::RunLock> lock_;
  bool sees_folder_ = true;
  bool all_see_folder_ = true;
};

/// decide_device for this rank and what this machine has.
/// @param wish run.device
/// @throws ConfigError, ResourceError
DeviceChoice choose_device(const std::string& wish, const comm::MpiSession& session);

/// Threads of a rank: run.threads_per_rank, or the node's cores shared evenly. Lifts mpirun's
/// binding of this process to a core; to be called before other threads are started.
int choose_threads(std::int64_t threads_per_rank, const comm::MpiSession& session);

}  // namespace traffic::train
