/// The rows of the trainings of the controller.
#include <memory>
#include <utility>

#include "policy/starting_weights.h"
#include "ppo/make_training.h"
#include "ppo/presets.h"
#include "ppo/training.h"
#include "search/prepare.h"

namespace traffic::train {
namespace {

/// What both have in common.
config::TrainingFacts ppo_facts() {
  return {.name = "ppo",
          .number = "2",
          .folder = "phase2",
          .help = "the controller, in simulations",
          .product = "Controller",
          .about =
              "A controller of connected vehicles: it picks some of them and gives each a "
              "command that lasts for a while, so that more traffic gets through.",
          .starts_from = {"world_model"},
          .simulates = true,
          .sections = {"env", "rollout", "vehicles", "training", "episodes", "imitation", "ppo",
                       "lights", "lights.ppo", "search"},
          .presets = ppo_presets()};
}

}  // namespace

TrainingRow ppo_training() {
  return {.facts = ppo_facts(),
          .make = [](Run& run) -> std::unique_ptr<Training> { return make_ppo_training(run); },
          .check_new = check_controller_of_vehicles,
          .own_sections = {},
          .prepare = look_and_search};
}

TrainingRow ppo_constrained_training() {
  config::TrainingFacts facts = ppo_facts();
  facts.name = "ppo_constrained";
  facts.number = "3";
  facts.folder = "phase3";
  facts.help = "the controller, under a limit on what its behaviour costs";
  facts.about =
      "A controller of connected vehicles: it picks some of them and gives each a command that "
      "lasts for a while, so that more traffic gets through. It was trained to keep the cost of "
      "unsafe states under a limit.";
  facts.starts_from = {"ppo"};
  facts.sections.emplace_back("lagrange");
  facts.presets = ppo_constrained_presets();
  return {.facts = std::move(facts),
          .make = [](Run& run) -> std::unique_ptr<Training> {
            return make_ppo_training(run, {.constrained = true});
          },
          .check_new = check_controller_of_vehicles,
          .own_sections = {},
          .prepare = look_and_search};
}

}  // namespace traffic::train
