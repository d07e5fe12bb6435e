/// The resources that all trainings of one start of the program share: ranks, device, and the run
/// folder with its lock and logs. A run can consist of several trainings in turn, its phases.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "traffic/checkpoint/run_lock.h"
#include "traffic/comm/communicator.h"
#include "traffic/config/load.h"
#include "traffic/report/run_folder.h"

namespace traffic::train {

/// Each rank, that is each MPI process, has one object.
class Job {
 public:
  /// Collective. Chooses the run folder (run.dir, an unfinished run of the same configuration, or a
  /// new one), locks it, records the configuration and the machine there, and opens the logs.
  /// @throws ConfigError, ResourceError, CommError
  Job(const config::Plan& plan, const comm::MpiSession& session);

  [[nodiscard]] const config::Config& config() const { return config_; }
  [[nodiscard]] const comm::MpiSession& session() const { return session_; }
  [[nodiscard]] comm::Communicator& communicator() { return *communicator_; }
  [[nodiscard]] bool is_reporter() const { return communicator_->rank() == 0; }
  [[nodiscard]] const report::RunFolder& folder() const { return folder_; }
  /// Whether this rank's node sees the files that rank 0 writes to the run folder. They are not
  /// visible on a node that does not share the file system.
  [[nodiscard]] bool sees_folder() const { return sees_folder_; }
  /// Whether every node sees these files.
  [[nodiscard]] bool all_see_folder() const { return all_see_folder_; }

 private:
  void open_folder(const config::Plan& plan);
  void log_device(const std::string& reason) const;

  config::Config config_;  ///< settings common to all phases
  const comm::MpiSession& session_;
  std::unique_ptr<comm::Communicator> communicator_;
  report::RunFolder folder_{{}};
  std::unique_ptr<checkpoint::RunLock> lock_;
  bool sees_folder_ = true;
  bool all_see_folder_ = true;
};

}  // namespace traffic::train
