#include "ppo/learner_device.h"

#include <spdlog/spdlog.h>

namespace traffic::train {

bool learns_on_cpu(const std::string& learner_device, std::int64_t parameters) {
  return learner_device == "cpu" || (learner_device == "auto" && parameters <= kMostOnCpu);
}

comm::Communicator& learner_communicator(const config::Config& config,
                                         const model::ControllerInputs& widths,
                                         comm::Communicator& communicator) {
  if (communicator.device().is_cpu()) return communicator;
  std::int64_t parameters = 0;
  const model::Controller controller(config.vehicles, widths);
  for (const auto& parameter : controller->parameters()) parameters += parameter.numel();
  const bool on_cpu = learns_on_cpu(config.ppo.learner_device, parameters);
  spdlog::info("the controller has {} parameters and learns on the {} (ppo.learner_device)",
               parameters, on_cpu ? "CPU; perception runs on the GPU" : "GPU");
  return on_cpu ? communicator.host() : communicator;
}

}  // namespace traffic::train
