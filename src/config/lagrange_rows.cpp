/// The schema of the configuration has a row for each key (schema.h). This file has the rows of the
/// tables [lagrange], [evaluation] and [search].
#include "rows.h"
#include "traffic/config/controller_spec.h"
#include "traffic/config/seeds.h"
#include "traffic/core/error.h"

namespace traffic::config {
namespace {

/// The allowed values of search.decides: the keys in its default.
std::vector<std::string_view> decidable() {
  static const Search kAll;
  return {kAll.decides.begin(), kAll.decides.end()};
}

/// Accepts one controller, or several that act together, such as "greedy+glide".
std::string refuse_controller(std::string_view text) {
  try {
    for (const std::string_view part : controller_parts(text)) parse_controller(part);
    return {};
  } catch (const ConfigError& error) {
    return error.what();
  }
}

std::string refuse_as_seeds(std::string_view text) {
  return text.empty() ? "" : read_seeds(text).refusal;
}

}  // namespace

std::vector<Row> lagrange_rows() {
  return {
      {TRAFFIC_KEY(lagrange.cost_limit),
       .help = "Mean cost of a control step that phase 3 aims for: the share of the time under "
               "control in which the time headway or time-to-collision of a commanded vehicle or "
               "of its follower is below the minimum of the shield, plus the costs of collisions "
               "and emergency stops.",
       .range = between(0, 1000)},
      {TRAFFIC_KEY(lagrange.learning_rate),
       .help = "Change of the multiplier in an iteration for each unit of cost over the limit.",
       .range = above(0, 1e6), .is_learning_rate = true},
      {TRAFFIC_KEY(lagrange.initial), .help = "Multiplier to start from.",
       .range = between(0, 1e6)},
      {TRAFFIC_KEY(lagrange.max), .help = "Largest multiplier.", .range = between(0, 1e6)},
      {TRAFFIC_KEY(lagrange.collision_cost),
       .help = "Cost of a collision anywhere in the network. A control step that is unsafe all the "
               "time costs 1.",
       .range = between(0, 1e6)},
      {TRAFFIC_KEY(lagrange.emergency_stop_cost),
       .help = "Cost of an emergency stop anywhere in the network, in the same unit as "
               "`lagrange.collision_cost`.",
       .range = between(0, 1e6)},
      {TRAFFIC_KEY(lagrange.critic_hidden_dim), .help = "Width of the cost critic.",
       .range = between(4, 4096)},
      {TRAFFIC_KEY(lagrange.critic_layers), .help = "Hidden layers of the cost critic.",
       .range = between(1, 8)},
      {TRAFFIC_KEY(lagrange.critic_epochs),
       .help = "Passes over the batch of every iteration that fit the cost critic.",
       .range = between(1, 1000)},
      {TRAFFIC_KEY(lagrange.critic_learning_rate), .help = "Learning rate of the cost critic.",
       .range = above(0, 10), .is_learning_rate = true},
  };
}

std::vector<Row> evaluation_rows() {
  return {
      {TRAFFIC_KEY(evaluation.seeds),
       .help = "Seeds of the episodes, as in 100..119; training never sees them. Empty means no "
               "evaluation.",
       .refuse = refuse_as_seeds},
      {TRAFFIC_KEY(evaluation.controllers),
       .help =
           "Controllers that the phase's result is compared with; gains are relative to `none`.",
       .refuse = refuse_controller},
      {TRAFFIC_KEY(evaluation.safety_limit),
       .help =
           "Number of additional emergency stops per run, compared with no control, up to which a "
           "controller counts as safe. The same number applies to emergency brakings and to "
           "collisions. A controller is unsafe if the 95 % interval of one of these differences "
           "lies above the number. The limit applies to comparisons, to the choice of the best "
           "checkpoint and to the search.",
       .range = between(0, 1e6)},
  };
}

std::vector<Row> search_rows() {
  return {
      {TRAFFIC_KEY(search.minutes),
       .help = "Time for a search over scripted controllers and their parameters, before a "
               "training with simulations. The best script determines the values of the keys in "
               "`search.decides`. If too few whole episodes fit into this time, the search "
               "compares pieces of episodes. 0 means no search.",
       .unit = "min", .range = between(0, 1e5)},
      {TRAFFIC_KEY(search.episodes),
       .help =
           "Number of episodes of the search. A fixed number makes the search the same on every "
           "machine. 0 means as many as fit into `search.minutes`.",
       .unit = "episodes", .range = between(0, 1e6)},
      {TRAFFIC_KEY(search.final_episodes),
       .help =
           "Number of seeds on which the search finally compares its best scripts with no control. "
           "The search takes four times as many seeds if its rounds showed a gain and these seeds "
           "do not.",
       .unit = "episodes", .range = between(3, 1000)},
      {TRAFFIC_KEY(search.training_minutes),
       .help =
           "Approximate time of the training after the search. The search sets "
           "`training.iterations` and the keys of the evaluations accordingly. 0 means that these "
           "keys keep their values.",
       .unit = "min", .range = between(0, 1e5)},
      {TRAFFIC_KEY(search.decides),
       .help = "Keys that the search sets; all other keys keep their values.",
       .choices = decidable()},
  };
}

}  // namespace traffic::config
