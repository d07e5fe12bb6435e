/// Which device a rank computes on, from what it wishes and what its node has.
#pragma once

#include <c10/core/Device.h>

#include <string>

namespace traffic::train {

/// What one rank knows of its node.
struct DeviceSituation {
  std::string wish = "auto";  ///< run.device
  bool built_with_cuda = false;
  int num_gpus = 0;           ///< that this process can use
  std::string why_no_gpus{};  ///< the CUDA runtime's words; may be empty
  int ranks_on_node = 1;
  int local_rank = 0;
  std::string visible_gpus{};  ///< CUDA_VISIBLE_DEVICES; empty: not set
};

struct DeviceChoice {
  at::Device device = c10::kCPU;
  std::string reason;  ///< for the log
};

/// The node-local rank's GPU; the CPU if that is wished, or with auto where there is no GPU. A rank
/// that is shown a single GPU by CUDA_VISIBLE_DEVICES, as some launchers do for each of them, takes
/// that one; whether two ranks share it is found out when they connect (NcclCommunicator).
/// @throws ConfigError for cuda in a program built without it
/// @throws ResourceError for cuda without a GPU, and for more ranks than GPUs
DeviceChoice decide_device(const DeviceSituation& situation);

}  // namespace traffic::train
