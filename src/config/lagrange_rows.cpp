/// Rows of [lagrange] and [evaluation].
#include "rows.h"
#include "traffic/config/seeds.h"

namespace traffic::config {
namespace {

std::string refuse_as_seeds(std::string_view text) {
  return text.empty() ? "" : read_seeds(text).refusal;
}

}  // namespace

std::vector<Row> lagrange_rows() {
  return {
      {TRAFFIC_KEY(lagrange.cost_limit),
       .help = "Mean cost of a control step that phase 3 aims for: the share of the time under "
               "control in which a commanded vehicle or its follower is under a threshold of the "
               "shield, plus collisions and emergency stops.",
       .range = between(0, 1000)},
      {TRAFFIC_KEY(lagrange.learning_rate),
       .help = "Change of the multiplier in an iteration for each unit of cost over the limit.",
       .range = above(0, 1e6)},
      {TRAFFIC_KEY(lagrange.initial), .help = "Multiplier to start from.",
       .range = between(0, 1e6)},
      {TRAFFIC_KEY(lagrange.max), .help = "Largest multiplier.", .range = between(0, 1e6)},
      {TRAFFIC_KEY(lagrange.collision_cost),
       .help = "Cost of a collision anywhere, in control steps that are wholly unsafe.",
       .range = between(0, 1e6)},
      {TRAFFIC_KEY(lagrange.emergency_stop_cost), .help = "The same of an emergency stop.",
       .range = between(0, 1e6)},
      {TRAFFIC_KEY(lagrange.critic_hidden_dim), .help = "Width of the cost critic.",
       .range = between(4, 4096)},
      {TRAFFIC_KEY(lagrange.critic_layers), .help = "Hidden layers of the cost critic.",
       .range = between(1, 8)},
      {TRAFFIC_KEY(lagrange.critic_epochs),
       .help = "Passes over the batch of every iteration that fit the cost critic.",
       .range = between(1, 1000)},
      {TRAFFIC_KEY(lagrange.critic_learning_rate), .help = "Learning rate of the cost critic.",
       .range = above(0, 10)},
  };
}

std::vector<Row> evaluation_rows() {
  return {
      {TRAFFIC_KEY(evaluation.seeds),
       .help = "Seeds of the episodes, as in 100..119; training never sees them. Empty: no "
               "evaluation.",
       .refuse = refuse_as_seeds},
      {TRAFFIC_KEY(evaluation.controllers),
       .help = "Controllers that the phase's result is compared with; gains are over none.",
       .choices = {"none", "random", "meter", "yield"}},
  };
}

}  // namespace traffic::config
