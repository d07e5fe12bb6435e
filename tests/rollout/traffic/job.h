/// A run of rollout_driver under mpirun, observed from outside: its processes, its output, its exit
/// code, and the files that it leaves.
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
    /// Starts mpirun itself, which binds each rank to a core, instead of launch/mpirun.sh.
    bool plain_mpirun = false;
    /// A program with its arguments that starts the job, such as one that sets limits.
    std::vector<std::string> starter = {};
    int ranks = 2;           ///< 0: without mpirun
    std::string fault = {};  ///< TRAFFIC_FAULT
    std::vector<std::string> args = {};
  };

  explicit Job(const Options& options);
  /// Kills the processes that are left.
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Processes of this job that run a program: "sumo_env", "rollout_worker", "rollout_driver",
  /// "mpirun". Processes that such a process has forked are left out.
  [[nodiscard]] std::vector<pid_t> pids(std::string_view program) const;
  /// The processes that sumo_env has forked for episodes.
  [[nodiscard]] std::vector<pid_t> pids_of_episodes() const;
  [[nodiscard]] std::vector<pid_t> all_pids() const;
  /// The output of the job so far.
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

  void signal(int number) const;  ///< sends a signal to mpirun
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
