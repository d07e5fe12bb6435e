/// The parts of a run that all its phases share: ranks, device, and the run folder with its lock
/// and logs.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "traffic/checkpoint/run_lock.h"
#include "traffic/comm/communicator.h"
#include "traffic/config/load.h"
#include "traffic/report/run_folder.h"

namespace traffic::train {

/// One object per process, that is per rank.
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
  /// Whether this rank's node (sees_folder) or every node (all_see_folder) sees the files that rank
  /// 0 writes to the run folder.
  [[nodiscard]] bool sees_folder() const { return sees_folder_; }
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
