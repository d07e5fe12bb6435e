/// Chooses the device on which the controller of vehicles learns. Its perception (the encoder and
/// the world model) may run on another device.
#pragma once

#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"
#include "traffic/model/controller.h"

namespace traffic::train {

/// With ppo.learner_device = "auto", a controller of up to this many parameters learns on the CPU.
/// One core computes a minibatch of such a controller in about the time that a GPU needs for
/// launching its kernels.
inline constexpr std::int64_t kMostOnCpu = 100'000;

/// For ranks that have GPUs: whether the controller nevertheless learns on the CPU.
/// @param learner_device ppo.learner_device
/// @param parameters number of parameters of the controller
bool learns_on_cpu(const std::string& learner_device, std::int64_t parameters);

/// Chooses the communicator that reduces the controller's gradients.
/// @return communicator.host() if the controller learns on the CPU, otherwise `communicator`
comm::Communicator& learner_communicator(const config::Config& config,
                                         const model::ControllerInputs& widths,
                                         comm::Communicator& communicator);

}  // namespace traffic::train
