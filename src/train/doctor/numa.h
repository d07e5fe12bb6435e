/// Whether the threads of a rank share memory that is near to all of them.
#pragma once

#include <filesystem>
#include <span>

#include "traffic/train/doctor/doctor.h"

namespace traffic::train {

struct NumaFacts {
  int nodes = 1;            ///< parts of the machine with memory of their own
  int of_this_process = 1;  ///< of those, on which it may run
};

/// @param sysfs where the kernel describes them: /sys/devices/system/node
/// @param cpus on which the process may run
NumaFacts numa_of(const std::filesystem::path& sysfs, std::span<const int> cpus);

Finding judge_numa(const NumaFacts& facts);

}  // namespace traffic::train
