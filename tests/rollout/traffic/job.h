/// A run of rollout_driver under mpirun, seen from outside: its processes, its words, its end, what
/// it leaves behind.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "traffic/os/child_process.h"

namespace traffic::rollout::testing {

class Job {
 public:
  struct Options {
    /// launch/mpirun.sh, or mpirun as users type it, which binds each rank to a core.
    bool plain_mpirun = false;
    /// What starts it, with its arguments: a program that sets limits.
    std::vector<std::string> starter = {};
    int ranks = 2;           ///< 0: without mpirun
    std::string fault = {};  ///< TRAFFIC_FAULT
    std::vector<std::string> args = {};
  };

  explicit Job(const Options& options);
  /// Kills what is left.
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Processes of this job by the name of their program: "sumo_env", "rollout_worker",
  /// "rollout_driver", "mpirun"; without those that they have made of themselves.
  [[nodiscard]] std::vector<pid_t> pids(std::string_view program) const;
  /// What the processes called sumo_env have made for their episodes.
  [[nodiscard]] std::vector<pid_t> pids_of_episodes() const;
  [[nodiscard]] std::vector<pid_t> all_pids() const;
  /// Everything printed so far.
  [[nodiscard]] std::string output() const;
  /// How often the text was printed.
  [[nodiscard]] int count(std::string_view text) const;
  /// Whether `condition` comes true within the limit.
  template <typename Condition>
  [[nodiscard]] bool eventually(Condition condition, double limit_s = 120) const {
    for (double waited_s = 0; waited_s < limit_s; waited_s += 0.01) {
      if (condition()) return true;
      pause();
    }
    return false;
  }
  [[nodiscard]] bool says(std::string_view text, int times = 1) const {
    return eventually([&] { return count(text) >= times; });
  }
  /// All ranks have had a first answer from all their simulations.
  [[nodiscard]] bool ready() const { return says("all answered", std::max(ranks_, 1)); }

  void signal(int number) const;  ///< to mpirun
  /// Exit code of mpirun, 128 + n after signal n, -1 if it does not end within the limit.
  [[nodiscard]] int wait(double limit_s = 120);
  /// Names of files in the job's folder for temporary files and shared memory.
  [[nodiscard]] std::vector<std::string> files_left() const;

 private:
  static void pause();
  [[nodiscard]] std::vector<std::pair<pid_t, std::string>> processes() const;

  int ranks_;
  std::string mark_;
  std::filesystem::path folder_;
  std::filesystem::path output_;
  os::ChildProcess child_;
  int end_ = -1;
};

}  // namespace traffic::rollout::testing
