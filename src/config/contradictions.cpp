// Finds values of different keys that contradict each other (contradictions.h).
#include "contradictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "traffic/config/controller_spec.h"
#include "traffic/config/scenario_mix.h"
#include "traffic/core/error.h"

namespace traffic::config {
namespace {

/// Checks that vehicles.commands contains the commands that a script gives.
void check_commands(const Config& config, std::string_view key, const std::string& script,
                    std::vector<Contradiction>& found) {
  const auto& commands = config.vehicles.commands;
  for (const std::string_view asked : commands_of(parse_controller(script))) {
    if (std::ranges::find(commands, asked) != commands.end()) continue;
    found.push_back(
        {{"vehicles.commands", key},
         fmt::format("expected {} among the commands, because the script {} gives this command",
                     asked, script)});
  }
}

/// Checks imitation.controllers, the scripts that the policy imitates.
void check_imitation(const Config& config, std::vector<Contradiction>& found) {
  const auto& controllers = config.imitation.controllers;
  const std::size_t scenarios = scenario_mix(config.env).size();
  if (controllers.size() != 1 && controllers.size() != scenarios) {
    found.push_back(
        {{"imitation.controllers", "env.scenarios"},
         fmt::format("found {} controllers, expected one, or one for each of the {} scenarios",
                     controllers.size(), scenarios)});
  }
  if (config.vehicles.longitudinal != "categorical") {
    found.push_back(
        {{"vehicles.longitudinal", "imitation.iterations"},
         fmt::format("found \"{}\", expected \"categorical\", because the policy imitates a "
                     "scripted controller (imitation.iterations)",
                     config.vehicles.longitudinal)});
    return;
  }
  for (const std::string& controller : controllers) {
    check_commands(config, "imitation.controllers", controller, found);
  }
}

/// Checks the script whose advice the trained controller sees.
void check_advisor(const Config& config, std::vector<Contradiction>& found) {
  if (config.vehicles.longitudinal != "categorical") {
    found.push_back({{"vehicles.longitudinal", "vehicles.advisor"},
                     fmt::format("found \"{}\", expected \"categorical\", because the advice of a "
                                 "script is one of the commands",
                                 config.vehicles.longitudinal)});
    return;
  }
  check_commands(config, "vehicles.advisor", config.vehicles.advisor, found);
}

/// Checks env.beside, the scripted controller that acts together with the trained controller.
void check_companion(const Config& config, std::vector<Contradiction>& found) {
  const std::string& beside = config.env.beside;
  try {
    parse_controller(beside);
  } catch (const ConfigError& error) {
    found.push_back({{"env.beside"}, error.what()});
    return;
  }
  const bool of_lights = sets_signals(beside);
  if (config.env.vehicles_act() && config.env.lights_act()) {
    found.push_back(
        {{"env.beside", "env.agents"},
         fmt::format(
             "found {}, expected an empty text, because vehicles and lights are both trained",
             beside)});
    return;
  }
  if (of_lights ? config.env.lights_act() : config.env.vehicles_act()) {
    found.push_back(
        {{"env.beside", "env.agents"},
         fmt::format(
             "found {}, which commands {}, but the trained controller commands them already",
             beside, of_lights ? "traffic lights" : "vehicles")});
  }
  if (of_lights && config.episodes.length_s > 0.0) {
    found.push_back({{"episodes.length_s", "env.beside"},
                     fmt::format("found {:g}, expected 0: episodes of this length begin in saved "
                                 "traffic, which lacks the state of the lights under {}",
                                 config.episodes.length_s, beside)});
  }
}

/// Checks episodes.length_s, with which training episodes begin in saved traffic.
void check_pieces(const Config& config, std::vector<Contradiction>& found) {
  const Episodes& episodes = config.episodes;
  if (episodes.baseline_cache.empty()) {
    found.push_back(
        {{"episodes.baseline_cache", "episodes.length_s"},
         "expected a folder, because training episodes begin in traffic that is saved there"});
  }
  if (episodes.rollout_fragment_length > 0) {
    found.push_back(
        {{"episodes.rollout_fragment_length", "episodes.length_s"},
         fmt::format("found {}, expected 0, because with episodes.length_s training collects whole "
                     "episodes",
                     episodes.rollout_fragment_length)});
  }
  constexpr double kShortest_s =
      60.0;  // an episode loads traffic of half a minute before it begins
  if (episodes.length_s < kShortest_s) {
    found.push_back(
        {{"episodes.length_s"},
         fmt::format("found {}, expected 0 or at least {} s", episodes.length_s, kShortest_s)});
  }
}

/// Checks episodes.demand, the range from which training episodes draw their demand.
void check_demand(const Config& config, std::vector<Contradiction>& found) {
  const Episodes& episodes = config.episodes;
  if (episodes.demand.size() != 2 || episodes.demand[0] > episodes.demand[1]) {
    found.push_back({{"episodes.demand"}, "expected two numbers, the minimum first"});
    return;
  }
  const bool is_scenarios = episodes.demand[0] == 1.0 && episodes.demand[1] == 1.0;
  if (episodes.length_s > 0.0 && !is_scenarios) {
    found.push_back(
        {{"episodes.length_s", "episodes.demand"},
         fmt::format(
             "found {:g}, expected 0: episodes of this length begin in saved traffic, which "
             "has the scenario's own demand",
             episodes.length_s)});
  }
}

/// Checks a curriculum of demands, which needs whole episodes. A fragment may continue an episode
/// that began with another demand. An episode of episodes.length_s begins in saved traffic, which
/// has the demand of the scenario.
void check_curriculum(const Config& config, std::vector<Contradiction>& found) {
  const Episodes& episodes = config.episodes;
  if (episodes.rollout_fragment_length > 0) {
    found.push_back(
        {{"episodes.rollout_fragment_length", "episodes.demand_curriculum"},
         fmt::format("found {}, expected 0, because the demand is set for whole episodes",
                     episodes.rollout_fragment_length)});
  }
  if (episodes.length_s > 0.0) {
    found.push_back({{"episodes.length_s", "episodes.demand_curriculum"},
                     fmt::format("found {}, expected 0: episodes of this length begin in saved "
                                 "traffic, which has the scenario's own demand",
                                 episodes.length_s)});
  }
}

}  // namespace

std::vector<Contradiction> find_contradictions(const Config& config) {
  std::vector<Contradiction> found;
  const Model& model = config.model;
  if (model.num_heads > 0 && model.hidden_dim % model.num_heads != 0) {
    found.push_back({{"model.hidden_dim", "model.num_heads"},
                     fmt::format("found {}, expected a multiple of model.num_heads ({})",
                                 model.hidden_dim, model.num_heads)});
  }
  const Train& train = config.train;
  if (train.min_learning_rate > train.learning_rate) {
    found.push_back({{"train.min_learning_rate", "train.learning_rate"},
                     fmt::format("found {}, expected at most train.learning_rate ({})",
                                 train.min_learning_rate, train.learning_rate)});
  }
  if (config.data.shard_weights == "measured" && !config.data.rank_weights.empty()) {
    found.push_back(
        {{"data.shard_weights", "data.rank_weights"},
         "found \"measured\" although data.rank_weights is set; leave data.rank_weights out "
         "or set \"fixed\""});
  }
  const LossScale& scale = config.loss_scale;
  if (scale.min > scale.max || scale.initial < scale.min || scale.initial > scale.max) {
    found.push_back(
        {{"loss_scale.initial", "loss_scale.min", "loss_scale.max"},
         fmt::format("found {}, expected a value from loss_scale.min ({}) to loss_scale.max ({})",
                     scale.initial, scale.min, scale.max)});
  }
  const auto& commands = config.vehicles.commands;
  if (config.vehicles.longitudinal == "categorical" &&
      (commands.size() < 2 || commands.front() != "none")) {
    found.push_back({{"vehicles.commands"},
                     "expected the command none first, and at least one other command after it"});
  }
  const bool lanes = std::ranges::any_of(
      commands, [](const std::string& name) { return name == "left" || name == "right"; });
  if (config.vehicles.longitudinal == "categorical" && lanes && config.vehicles.lane_change) {
    found.push_back({{"vehicles.lane_change", "vehicles.commands"},
                     "found true, expected false, because vehicles.commands has left or right"});
  }
  if (config.env.agents.empty()) {
    found.push_back({{"env.agents"}, "expected at least one agent"});
  }
  if (!config.env.beside.empty()) check_companion(config, found);
  if (!config.vehicles.advisor.empty()) check_advisor(config, found);
  if (config.imitation.iterations > 0) check_imitation(config, found);
  check_demand(config, found);
  if (config.episodes.length_s > 0.0) check_pieces(config, found);
  if (!config.episodes.demand_curriculum.empty()) check_curriculum(config, found);
  const bool searches = config.search.minutes > 0 || config.search.episodes > 0;
  if (config.env.objective == "auto" && !searches) {
    found.push_back(
        {{"env.objective", "search.minutes"},
         "found \"auto\", but only a search finds out whether the traffic is saturated; "
         "set search.minutes, or set env.objective to ocr or delay"});
  }
  const auto& compared = config.evaluation.controllers;
  if (std::set(compared.begin(), compared.end()).size() != compared.size()) {
    found.push_back({{"evaluation.controllers"}, "expected each controller once"});
  }
  const std::string& resume = config.run.resume;
  if (!config.run.init_from.empty() && resume != "auto" && resume != "must" && resume != "never") {
    found.push_back(
        {{"run.init_from", "run.resume"},
         "run.resume names a checkpoint to continue from, so the run cannot start from other "
         "weights; set only one of the two"});
  }
  return found;
}

}  // namespace traffic::config
