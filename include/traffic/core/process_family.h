/// The processes of a run on this machine: a rank, and all processes that the rank and mpirun have
/// started.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace traffic {

struct ProcessFacts {
  int pid = 0;
  std::string name;  ///< "traffic_train", "rollout_worker", "sumo_env", ...
  char state =
      '?';  ///< as in /proc: R runs, S waits, D waits for a disk, T is stopped, Z has ended
  std::int64_t rss_bytes = 0;
  double cpu_s = 0;
};

/// A process and all its descendants. If MPI or SLURM started it, the other processes that they
/// have started belong to it as well. Empty if there is no such process.
std::vector<ProcessFacts> family_of(int pid);

/// Memory of a process (PSS): a page that n processes share counts as 1 / n page for each, so that
/// the sum over processes is the memory that they take together. Costs about a millisecond. 0 for a
/// process that has ended or belongs to another user.
std::int64_t own_share_bytes(int pid);

}  // namespace traffic
