/// Chooses the device on which the controller learns. Perception may run on another one.
#pragma once

#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"
#include "traffic/model/controller.h"

namespace traffic::train {

/// With ppo.learner_device = "auto", a controller of up to this many parameters learns on the CPU.
/// Its minibatch takes about as long on one core as the kernel launches alone would take on a GPU.
/// When it learns on the CPU, the encodings that perception computes on a GPU are copied only once.
inline constexpr std::int64_t kMostOnCpu = 100'000;

/// @param learner_device ppo.learner_device
/// @param parameters number of parameters of the controller
/// @return whether the controller learns on the CPU
bool learns_on_cpu(const std::string& learner_device, std::int64_t parameters);

/// @return the communicator that reduces the controller's gradients: the given one, or its host()
///   if the controller learns on the CPU
comm::Communicator& learner_communicator(const config::Config& config,
                                         const model::ControllerInputs& widths,
                                         comm::Communicator& communicator);

}  // namespace traffic::train
