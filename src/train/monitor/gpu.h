/// Finds GPUs, sets them up, and queries their memory and properties. In a program that was built
/// without CUDA, there are no GPUs.
#pragma once

#include <c10/core/Device.h>

#include <string>
#include <vector>

#include "monitor/memory_watch.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// The GPUs that this process can use.
struct GpuInventory {
  bool built_with_cuda = false;
  int count = 0;
  std::string problem;  ///< why there is no GPU, as reported by the CUDA runtime
};
GpuInventory find_gpus();

/// Makes the GPU the current device of this process, with the settings of [gpu]. Does nothing on
/// the CPU.
void prepare_gpu(at::Device device, const config::Config& config);
/// Limits the GPU memory of the process to what [gpu] and [memory] allow. Does nothing on the CPU.
/// @return the allowed share of the GPU's memory
double limit_gpu_memory(at::Device device, const config::Config& config);

/// Reads the memory of a GPU.
/// @param device must be a GPU
GpuMemory gpu_memory(at::Device device);
/// Returns the memory that torch has cached to the GPU.
void empty_gpu_cache(at::Device device);

/// The address by which NVIDIA's management library names a GPU, such as "0000:3B:00.0"; empty on
/// the CPU.
std::string gpu_pci_bus_id(at::Device device);

/// Name, memory and library versions, for the log; empty on the CPU.
std::string describe_gpu(at::Device device);

/// Names the pairs of GPUs without direct access, such as "GPUs 0 and 2 cannot access each other's
/// memory directly". Empty if all have access.
std::string gpus_without_peer_access();

/// "NAME=value" for each environment variable whose name starts with prefix, sorted.
std::vector<std::string> environment_settings(const std::string& prefix);

}  // namespace traffic::train
