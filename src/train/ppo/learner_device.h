/// Where the controller learns, which need not be where perception runs.
#pragma once

#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"
#include "traffic/model/controller.h"

namespace traffic::train {

/// ppo.learner_device: auto is the CPU for a controller of up to kMostOnCpu parameters. A minibatch
/// of one costs about as much on a core as its launches alone cost on a GPU, and what perception
/// has encoded goes one way only: to the CPU, where the controller reads and learns from it.
inline constexpr std::int64_t kMostOnCpu = 100'000;

/// @return whether the controller learns on the CPU
bool learns_on_cpu(const std::string& learner_device, std::int64_t parameters);

/// @return the communicator that its gradients go through: the given one, or that of the host
comm::Communicator& learner_communicator(const config::Config& config,
                                         const model::ControllerInputs& widths,
                                         comm::Communicator& communicator);

}  // namespace traffic::train
