#include "agents/rows.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agents/table.h"
#include "agents/training.h"
#include "offpolicy/settings.h"
#include "policy/starting_weights.h"
#include "search/prepare.h"
#include "traffic/core/error.h"

namespace traffic::train {
namespace {

std::vector<config::PresetRow> ppo_presets() {
  return {
      // key, test, normal, max, memory, vram
      {"rollout.workers", {{"2", "6", "8", "3", "3"}}},
      {"rollout.envs_per_worker", {{"1", "2", "2", "1", "1"}}},
      {"rollout.max_concurrent_envs", {{"", "", "16", "3", "2"}}},
      {"memory.target_memory_gb", {{"", "", "", "10", ""}}},
      {"memory.target_vram_gb", {{"", "", "", "", "16"}}},
      {"episodes.train_batch_size", {{"500", "4000", "8000", "2000", "1000"}}},
      {"episodes.baseline_episodes", {{"8", "", "", "", ""}}},
      {"ppo.minibatch_size", {{"64", "128", "256", "64", "32"}}},
      {"ppo.num_epochs", {{"2", "10", "15", "5", "3"}}},
      {"training.iterations", {{"5", "200", "200", "200", "200"}}},
      {"training.eval_interval", {{"2", "10", "10", "10", "10"}}},
      {"training.eval_episodes", {{"2", "", "", "", ""}}},
      {"model.hidden_dim", {{"64", "", "", "", ""}}},
      {"model.gnn_layers", {{"2", "", "", "", ""}}},
      {"model.num_heads", {{"4", "", "", "", ""}}},
      {"model.lstm_hidden", {{"64", "", "", "", ""}}},
      {"model.lstm_layers", {{"1", "", "", "", ""}}},
      {"vehicles.hidden_dim", {{"64", "", "", "", ""}}},
      {"evaluation.seeds", {{"100..103", "", "", "", ""}}},
  };
}

std::vector<config::PresetRow> ppo_constrained_presets() {
  std::vector<config::PresetRow> rows = ppo_presets();
  rows.push_back({"ppo.accumulation_steps", {{"2", "2", "2", "4", "4"}}});
  rows.push_back({"ppo.lr_schedule", {{"cosine", "cosine", "cosine", "cosine", "cosine"}}});
  rows.push_back({"ppo.final_learning_rate", {{"1e-7", "1e-7", "1e-7", "1e-7", "1e-7"}}});
  rows.push_back({"ppo.warmup_iterations", {{"1", "10", "10", "10", "10"}}});
  rows.push_back({"ppo.weight_decay", {{"1e-4", "1e-4", "1e-4", "1e-4", "1e-4"}}});
  return rows;
}

std::vector<config::PresetRow> dqn_presets() {
  return {
      // key, test, normal, max, memory, vram
      {"rollout.workers", {{"2", "", "", "", ""}}},
      {"rollout.envs_per_worker", {{"1", "", "", "", ""}}},
      {"episodes.train_batch_size", {{"200", "", "", "", ""}}},
      {"episodes.baseline_episodes", {{"8", "", "", "", ""}}},
      {"training.iterations", {{"6", "", "", "", ""}}},
      {"training.eval_interval", {{"3", "", "", "", ""}}},
      {"training.eval_episodes", {{"2", "", "", "", ""}}},
      {"vehicles.hidden_dim", {{"32", "", "128", "", ""}}},
      {"offpolicy.buffer_size", {{"20000", "", "1000000", "100000", ""}}},
      {"offpolicy.learning_starts", {{"200", "", "", "", ""}}},
      {"offpolicy.batch_size", {{"64", "256", "512", "128", "128"}}},
      {"evaluation.seeds", {{"100..103", "", "", "", ""}}},
  };
}

constexpr const char* kAbout =
    "A controller of connected vehicles, of traffic lights, or of both. It picks some "
    "vehicles and gives each a command that lasts for a while; for each light that may switch it "
    "chooses the next green. It was trained so that more traffic gets through or less time is "
    "lost.";

config::TrainingFacts ppo_facts() {
  return {.name = "ppo",
          .number = "2",
          .folder = "phase2",
          .help = "a controller of vehicles, traffic lights or both, in simulations",
          .product = "Controller",
          .about = kAbout,
          .starts_from = {"world_model"},
          .simulates = true,
          .sections = {"env", "rollout", "vehicles", "lights", "training", "episodes", "imitation",
                       "ppo", "search"},
          .presets = ppo_presets()};
}

/// Calls the check of every agent that env.agents names. A check throws ConfigError if the agent
/// cannot learn by the algorithm with these settings.
void check_agents(const config::Config& config, Algorithm algorithm) {
  for (const AgentRow& row : acting_rows(config.env)) row.check(config, algorithm);
}

void check_by_ppo(const config::Config& config, Algorithm algorithm) {
  check_agents(config, algorithm);
  if (!config.env.vehicles_act() && config.imitation.iterations > 0) {
    throw ConfigError(
        "imitation.iterations is {}: only vehicles imitate scripts, and env.agents has no "
        "vehicles; expected 0",
        config.imitation.iterations);
  }
  check_starting_weights(config);
}

void check_ppo(const config::Config& config) { check_by_ppo(config, Algorithm::kPpo); }

void check_ppo_constrained(const config::Config& config) {
  check_by_ppo(config, Algorithm::kConstrainedPpo);
}

[[noreturn]] void refuse(const char* key, const std::string& found, const char* expected) {
  throw ConfigError("{} is {}, which Q-learning cannot use; expected {}", key, found, expected);
}

/// Checks the settings that do not depend on the number of ranks. offpolicy::check_settings()
/// checks the settings that do.
void check_dqn(const config::Config& config) {
  const auto learning = config.extension<offpolicy::OffPolicy>();
  if (learning.learner != "dqn") refuse("offpolicy.learner", learning.learner, "dqn");
  if (config.imitation.iterations > 0) {
    refuse("imitation.iterations", std::to_string(config.imitation.iterations), "0");
  }
  if (config.env.vehicles_act() && config.env.lights_act()) {
    throw ConfigError(
        "env.agents contains vehicles and lights: with Q-learning, vehicles learn from fragments "
        "of episodes and lights from whole episodes; expected only one of these agents, or "
        "run.phase = \"ppo\" for both");
  }
  check_agents(config, Algorithm::kQLearning);
  check_starting_weights(config);
}

}  // namespace

TrainingRow ppo_training() {
  return {.facts = ppo_facts(),
          .make = [](Run& run) -> std::unique_ptr<Training> {
            return std::make_unique<ControllerTraining>(run, Algorithm::kPpo);
          },
          .check_new = check_ppo,
          .own_sections = {},
          .prepare = look_and_search};
}

TrainingRow ppo_constrained_training() {
  config::TrainingFacts facts = ppo_facts();
  facts.name = "ppo_constrained";
  facts.number = "3";
  facts.folder = "phase3";
  facts.help = "a controller of vehicles, under a limit on what its behaviour costs";
  facts.about =
      "A controller of connected vehicles: it picks some of them and gives each a command that "
      "lasts for a while, so that more traffic gets through. It was trained to keep the cost of "
      "unsafe states under a limit.";
  facts.starts_from = {"ppo"};
  facts.sections.emplace_back("lagrange");
  facts.presets = ppo_constrained_presets();
  return {.facts = std::move(facts),
          .make = [](Run& run) -> std::unique_ptr<Training> {
            return std::make_unique<ControllerTraining>(run, Algorithm::kConstrainedPpo);
          },
          .check_new = check_ppo_constrained,
          .own_sections = {},
          .prepare = look_and_search};
}

TrainingRow dqn_training() {
  return {
      .facts = {.name = "dqn",
                .number = "",
                .folder = "dqn",
                .help = "a controller of vehicles or traffic lights, by Q-learning from a replay",
                .product = "Controller",
                .about = kAbout,
                .starts_from = {"world_model"},
                .simulates = true,
                .sections = {"env", "rollout", "vehicles", "lights", "training", "episodes",
                             "search", "offpolicy"},
                .presets = dqn_presets()},
      .make = [](Run& run) -> std::unique_ptr<Training> {
        check_dqn(run.config());
        offpolicy::check_settings(run.config().extension<offpolicy::OffPolicy>(),
                                  run.communicator().size());
        return std::make_unique<ControllerTraining>(run, Algorithm::kQLearning);
      },
      .check_new = check_dqn,
      .own_sections = {},
      .prepare = look_and_search};
}

}  // namespace traffic::train
