/// The processes of a run on this machine: a rank, and all processes that the rank and mpirun have
/// started.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace traffic {

/// State of one process, as /proc reports it.
struct ProcessFacts {
  int pid = 0;
  std::string name;  ///< "traffic_train", "rollout_worker", "sumo_env", ...
  char state =
      '?';  ///< as in /proc: R runs, S waits, D waits for a disk, T is stopped, Z has ended
  std::int64_t rss_bytes = 0;
  double cpu_s = 0;
};

/// Lists a process and all its descendants. If a launcher of MPI or SLURM started the process, the
/// list also contains the launcher and all other descendants of the launcher. The list is empty if
/// there is no such process.
std::vector<ProcessFacts> family_of(int pid);

/// Memory of a process, the PSS of Linux: a page that n processes share counts as 1/n page for each
/// of them. The sum over processes is therefore the memory that they use together. A call takes
/// about a millisecond. Returns 0 for a process that has ended or belongs to another user.
std::int64_t own_share_bytes(int pid);

}  // namespace traffic
