#include "joint/training.h"

#include <memory>
#include <utility>

#include "joint/lights.h"
#include "joint/settings.h"
#include "ppo/make_training.h"
#include "ppo/presets.h"
#include "search/prepare.h"
#include "traffic/train/run/run.h"

namespace traffic::train {

TrainingRow joint_training() {
  return {.facts = {.name = "joint",
                    .number = "",
                    .folder = "joint",
                    .help = "vehicles and traffic lights together, in simulations",
                    .product = "Controller of vehicles and traffic lights",
                    .about = "Two controllers in one traffic: one picks connected vehicles and "
                             "gives each a command that lasts for a while, the other says of each "
                             "light that may switch which green comes next. They were trained "
                             "together, so that more traffic gets through or less time is lost.",
                    .starts_from = {},
                    .simulates = true,
                    .sections = {"env", "rollout", "vehicles", "training", "episodes", "imitation",
                                 "ppo", "lights", "lights.ppo", "search"},
                    .presets = ppo_presets()},
          .make = [](Run& run) -> std::unique_ptr<Training> {
            auto lights = std::make_unique<joint::Lights>(run.config(), run.communicator().host());
            return make_ppo_training(run, {.lights = std::move(lights)});
          },
          .check_new = joint::check_settings,
          .own_sections = {},
          .prepare = look_and_search};
}

}  // namespace traffic::train
