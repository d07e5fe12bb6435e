/// Chooses the device and the number of threads of a rank from the configuration and the hardware
/// of its node.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <string>

#include "traffic/comm/mpi_session.h"

namespace traffic::train {

/// Facts about a rank and its node, by which decide_device() chooses.
struct DeviceSituation {
  std::string wish = "auto";  ///< run.device
  bool built_with_cuda = false;
  int num_gpus = 0;           ///< GPUs that this process can use
  std::string why_no_gpus{};  ///< message of the CUDA runtime; may be empty
  int ranks_on_node = 1;
  int local_rank = 0;
  std::string visible_gpus{};  ///< CUDA_VISIBLE_DEVICES; empty if not set
};

struct DeviceChoice {
  at::Device device = c10::kCPU;
  std::string reason;  ///< why this device was chosen, for the log
};

/// Chooses the GPU whose index is the number of the rank on its node. Chooses the CPU if run.device
/// is "cpu", or if it is "auto" and there is no GPU. Some launchers show each rank a single GPU
/// through CUDA_VISIBLE_DEVICES; the rank then takes this GPU. If two ranks take the same GPU,
/// NcclCommunicator detects this when they connect.
/// @throws ConfigError for cuda in a program that was built without it
/// @throws ResourceError for cuda if there is no GPU, or if there are more ranks than GPUs
DeviceChoice decide_device(const DeviceSituation& situation);

/// Calls decide_device with the hardware that this rank finds on its node.
/// @param wish run.device
/// @throws ConfigError, ResourceError
DeviceChoice choose_device(const std::string& wish, const comm::MpiSession& session);

/// Number of threads of a rank: run.threads_per_rank, or an equal share of the node's cores.
/// Removes mpirun's binding of this process to one core; call it before other threads start.
int choose_threads(std::int64_t threads_per_rank, const comm::MpiSession& session);

}  // namespace traffic::train
