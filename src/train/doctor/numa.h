/// A check of traffic_doctor: whether all threads of a rank run close to the rank's memory.
#pragma once

#include <filesystem>
#include <span>

#include "traffic/train/doctor/doctor.h"

namespace traffic::train {

struct NumaFacts {
  int nodes = 1;            ///< NUMA nodes: parts of the machine with memory of their own
  int of_this_process = 1;  ///< NUMA nodes on which this process may run
};

/// @param sysfs the kernel's description of NUMA nodes: /sys/devices/system/node
/// @param cpus the CPUs on which this process may run
NumaFacts numa_of(const std::filesystem::path& sysfs, std::span<const int> cpus);

/// Warns if the process may run on several NUMA nodes.
Finding judge_numa(const NumaFacts& facts);

}  // namespace traffic::train
