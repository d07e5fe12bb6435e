/// Checks of traffic_doctor: the load that other programs put on a node and its GPUs before a run
/// begins.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <optional>
#include <string>

#include "doctor/findings.h"
#include "monitor/nvml.h"
#include "traffic/train/doctor/doctor.h"

namespace traffic::train {

/// The load of a machine.
struct LoadFacts {
  int cpus = 0;                      ///< processors of the machine
  double load = 0.0;                 ///< mean number of runnable processes in the last minute
  std::int64_t available_bytes = 0;  ///< main memory that new programs can use
  std::int64_t swap_bytes = 0;       ///< swap space in use
};
/// Reads the load of this machine.
LoadFacts look_at_load();
/// Warns if processors or memory are too busy for the ranks and simulations of the node.
Finding judge_load(const NodeFacts& node, const LoadFacts& load);

/// The load of a GPU.
struct GpuFacts {
  std::string name;
  std::int64_t total_bytes = 0;
  std::int64_t free_bytes = 0;
  std::optional<GpuLoad> load = {};  ///< nothing if the driver's management library is missing
};
/// Reads the load of a GPU.
GpuFacts look_at_gpu(at::Device device);
/// Warns if other processes use the GPU, or if it is hot.
/// @param choice why the rank uses this device; the text of the finding begins with it
Finding judge_gpu(const GpuFacts& gpu, const std::string& choice);

}  // namespace traffic::train
