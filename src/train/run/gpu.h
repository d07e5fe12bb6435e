/// What is asked of the GPU beside tensors. In a program without CUDA there are no GPUs.
#pragma once

#include <c10/core/Device.h>

#include <string>
#include <vector>

#include "run/memory_watch.h"
#include "traffic/config/config.h"

namespace traffic::train {

struct GpuInventory {
  bool built_with_cuda = false;
  int count = 0;
  std::string problem;  ///< why there is none, in the CUDA runtime's words
};
GpuInventory find_gpus();

/// Makes the device this process's own, with the settings of [gpu]. Nothing on the CPU.
void prepare_gpu(at::Device device, const config::Config& config);
/// Keeps the process within what [gpu] and [memory] allow of it. Nothing on the CPU.
/// @return the share that is allowed
double limit_gpu_memory(at::Device device, const config::Config& config);

/// Of a device that is a GPU.
GpuMemory gpu_memory(at::Device device);
void empty_gpu_cache(at::Device device);

/// As the management library calls it: "0000:3B:00.0"; empty on the CPU.
std::string gpu_pci_bus_id(at::Device device);

/// Name, memory and library versions, for the log; empty on the CPU.
std::string describe_gpu(at::Device device);

/// Pairs of GPUs that cannot reach each other's memory: "GPUs 0 and 2, ..."; empty if all can.
std::string gpus_without_peer_access();

/// "NAME=value" of the environment's variables whose names start with prefix, sorted.
std::vector<std::string> environment_settings(const std::string& prefix);

}  // namespace traffic::train
