/// The processes of a run on this machine: a rank, with everything that it and mpirun have started.
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

/// The process and all below it; where MPI or SLURM started it, also what these have started beside
/// it. Empty if there is no such process.
std::vector<ProcessFacts> family_of(int pid);

/// Memory of a process in which pages that several share are counted in parts, so that processes
/// add up to what they take together (PSS). Costs about a millisecond. Of one that has ended, or
/// belongs to somebody else: 0.
std::int64_t own_share_bytes(int pid);

}  // namespace traffic
