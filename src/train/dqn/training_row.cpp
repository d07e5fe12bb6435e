/// The row of the training dqn, and what it may be set to.
#include <memory>
#include <string>

#include "dqn/training.h"
#include "offpolicy/settings.h"
#include "policy/starting_weights.h"
#include "search/prepare.h"
#include "traffic/core/error.h"

namespace traffic::train {
namespace {

std::vector<config::PresetRow> dqn_presets() {
  return {
      // key, test, normal, max, memory, vram
      {"rollout.workers", {{"2", "", "", "", ""}}},
      {"rollout.envs_per_worker", {{"1", "", "", "", ""}}},
      {"episodes.train_batch_size", {{"200", "", "", "", ""}}},
      {"episodes.rollout_fragment_length", {{"20", "", "", "", ""}}},
      {"training.iterations", {{"6", "", "", "", ""}}},
      {"training.eval_interval", {{"3", "", "", "", ""}}},
      {"training.eval_episodes", {{"2", "", "", "", ""}}},
      {"episodes.baseline_episodes", {{"8", "", "", "", ""}}},
      {"vehicles.hidden_dim", {{"32", "", "128", "", ""}}},
      {"offpolicy.buffer_size", {{"20000", "", "1000000", "100000", ""}}},
      {"offpolicy.learning_starts", {{"200", "", "", "", ""}}},
      {"offpolicy.batch_size", {{"64", "256", "512", "128", "128"}}},
      {"evaluation.seeds", {{"100..103", "", "", "", ""}}},
  };
}

/// What it needs of settings that are made for more than it can do.
void check_settings(const config::Config& config) {
  const auto& learning = config.extension<offpolicy::OffPolicy>();
  const auto refuse = [](const char* key, const std::string& found, const char* expected) {
    throw ConfigError("{} is {}, which the training dqn has no use for; expected {}", key, found,
                      expected);
  };
  if (learning.learner != "dqn") refuse("offpolicy.learner", learning.learner, "dqn");
  if (config.vehicles.longitudinal != "categorical") {
    refuse("vehicles.longitudinal", config.vehicles.longitudinal,
           "categorical: values are those of commands");
  }
  if (config.vehicles.lane_change) refuse("vehicles.lane_change", "true", "false");
  if (config.episodes.rollout_fragment_length == 0) {
    refuse("episodes.rollout_fragment_length", "0",
           "control steps after which it learns: it does not wait for whole episodes");
  }
  if (config.imitation.iterations > 0) {
    refuse("imitation.iterations", std::to_string(config.imitation.iterations), "0");
  }
}

}  // namespace

TrainingRow dqn_training() {
  return {
      .facts = {.name = "dqn",
                .number = "",
                .folder = "dqn",
                .help = "the controller, by Q-learning from a replay",
                .product = "Controller",
                .about =
                    "A controller of connected vehicles, by the values of commands: it picks some "
                    "of them and gives each a command that lasts for a while, so that more traffic "
                    "gets through.",
                .starts_from = {"world_model"},
                .simulates = true,
                .sections = {"env", "rollout", "vehicles", "training", "episodes", "search",
                             "offpolicy"},
                .presets = dqn_presets()},
      .make = [](Run& run) -> std::unique_ptr<Training> {
        check_settings(run.config());
        offpolicy::check_settings(run.config().extension<offpolicy::OffPolicy>(),
                                  run.communicator().size());
        return dqn::make_dqn_training(run);
      },
      .check_new =
          [](const config::Config& config) {
            check_settings(config);
            check_controller_of_vehicles(config);
          },
      .own_sections = {},
      .prepare = look_and_search,
  };
}

}  // namespace traffic::train
