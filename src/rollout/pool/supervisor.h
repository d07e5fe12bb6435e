/// Supervisor, the main loop of a rollout worker. It starts and watches the worker's simulation
/// processes, and replaces those that die. It uses neither MPI nor SUMO.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "layout.h"
#include "slot.h"
#include "traffic/os/child_process.h"
#include "traffic/os/shared_memory.h"

namespace traffic::rollout {

/// Pause in seconds before a simulation is started again. There is no pause after the first
/// failure. After the second failure in a row the pause is 0.1 s, and it doubles with each further
/// failure, up to 2 s.
double restart_pause_s(std::uint32_t failures_in_row);

class Supervisor {
 public:
  /// Why run() has returned: the pool was closed, or a rank or the process that started this one is
  /// gone.
  enum class End { kClosed, kOrphaned };

  /// @param file the pool's memory; the simulations inherit the descriptor
  /// @param worker number of this worker in the pool, which decides which simulations it runs
  /// @throws WorkerError if another build created the memory; ResourceError if it cannot be mapped
  Supervisor(os::Descriptor file, std::uint32_t worker);

  /// Runs until the pool is closed, or until a rank or the process that started this one is gone.
  /// All simulations are dead when it returns. Call it in the thread that lives longest (see
  /// os::ChildProcess).
  End run();

 private:
  /// One of the worker's simulations.
  struct Env {
    std::uint32_t index;  ///< index of the simulation on this node
    os::Mapping mapping;
    WorkerSlot slot;
    os::ChildProcess process = {};  ///< if it is empty, tend() starts a process
    os::Descriptor output = {};     ///< stdout and stderr of the process
    std::string tail = {};          ///< the last bytes of its output
    std::int64_t started_ns = 0;    ///< time at which the process was started
    std::int64_t stopped_ns = 0;    ///< time since which the process is seen stopped; 0 if it runs
    std::int64_t oom_kills_before = 0;  ///< num_oom_kills() when the process was started
    std::int64_t start_at_ns = 0;       ///< time of the next start if there is no process
    std::string killed_because = {};    ///< why this supervisor has killed the process; empty if it
                                        ///< has not
    std::uint32_t failures_in_row = 0;  ///< failures since the last finished episode
    std::uint64_t episodes_at_failure = 0;  ///< finished episodes at the last failure
    bool given_up = false;                  ///< true: too many failures; not started any more
  };

  void tend(Env& env);
  static void read_output(Env& env);
  static std::string how_it_ended(const Env& env, const os::Exit& exit);
  void start(Env& env);
  void kill_if_stuck(Env& env);
  [[nodiscard]] static bool stays_stopped(Env& env);
  void handle_death(Env& env, const std::string& how);
  void give_up(const std::string& why);
  void sleep_until_something_happens() const;
  /// Whether a rank of the node, or the process that started this one, is gone.
  [[nodiscard]] bool orphaned() const;

  os::Descriptor file_;
  os::Mapping head_;
  os::Mapping bells_;
  Geometry geometry_;
  std::uint32_t worker_;
  pid_t parent_;  ///< process that started this one
  std::vector<Env> envs_;
};

}  // namespace traffic::rollout
