#include "offpolicy/settings.h"

#include <cmath>

#include "traffic/core/error.h"

namespace traffic::train::offpolicy {
namespace {

using config::at_least;
using config::between;

#define OFFPOLICY_KEY(member) TRAFFIC_EXTENSION_KEY("offpolicy", OffPolicy, member)

constexpr config::Range kShare{.low = 0.0, .high = 1.0};
constexpr config::Range kAboveZero{.low = 0.0, .high = 1.0, .low_open = true};

std::vector<config::Row> learning_rows() {
  return {
      {OFFPOLICY_KEY(learner),
       .help = "What learns: dqn (double, dueling), ddpg (an actor and a critic of its actions) or "
               "sac (soft actor-critic with a choice of actions).",
       .choices = {"dqn", "ddpg", "sac"}},
      {OFFPOLICY_KEY(max_episodes), .help = "Episodes of all ranks together.", .unit = "episodes",
       .range = between(1, 1e9)},
      {OFFPOLICY_KEY(hidden_dim), .help = "Width of a network.", .range = between(4, 4096)},
      {OFFPOLICY_KEY(layers), .help = "Hidden layers of a network.", .range = between(1, 8)},
      {OFFPOLICY_KEY(buffer_size), .help = "Transitions that a rank keeps to learn from.",
       .range = between(1000, 1e9)},
      {OFFPOLICY_KEY(learning_starts),
       .help = "Transitions that a rank must have before anything is learned.",
       .range = between(1, 1e9)},
      {OFFPOLICY_KEY(batch_size), .help = "Transitions of an update.", .range = between(1, 1e6)},
      {OFFPOLICY_KEY(batch_scope),
       .help = "Whether `offpolicy.batch_size` is of a rank or of all of them together.",
       .choices = {"rank", "all"}},
      {OFFPOLICY_KEY(update_interval),
       .help = "Steps of its environments that a rank makes between two updates.",
       .range = between(1, 1e6)},
      {OFFPOLICY_KEY(n_step), .help = "Steps of a return before a value stands for the rest.",
       .range = between(1, 32)},
      {OFFPOLICY_KEY(gamma), .help = "Discount of a step.", .range = kShare},
      {OFFPOLICY_KEY(learning_rate), .help = "Learning rate of critics, and of dqn.",
       .range = {.low = 0.0, .low_open = true}, .is_learning_rate = true},
      {OFFPOLICY_KEY(actor_learning_rate), .help = "Learning rate of the actor of ddpg and sac.",
       .range = {.low = 0.0, .low_open = true}, .is_learning_rate = true},
      {OFFPOLICY_KEY(final_learning_rate_share),
       .help = "What is left of the learning rates at the end; they fall linearly.",
       .range = kShare},
      {OFFPOLICY_KEY(scale_lr),
       .help = "Factor on learning rates: none, the number of ranks, or its square root.",
       .choices = {"none", "linear", "sqrt"}},
      {OFFPOLICY_KEY(clip_norm), .help = "Largest norm of a network's gradient; 0: any.",
       .range = at_least(0)},
      {OFFPOLICY_KEY(tau),
       .help = "Share of the way that target networks go with every update; 0: they become equal "
               "every `offpolicy.target_interval` updates.",
       .range = kShare},
      {OFFPOLICY_KEY(target_interval), .help = "Updates between hard updates of target networks.",
       .unit = "updates", .range = between(1, 1e9)},
  };
}

std::vector<config::Row> acting_rows() {
  return {
      {OFFPOLICY_KEY(epsilon), .help = "Share of random actions at first.", .range = kShare},
      {OFFPOLICY_KEY(epsilon_speed),
       .help = "Factor on that share with each environment step of all ranks.",
       .range = kAboveZero},
      {OFFPOLICY_KEY(epsilon_end), .help = "Its least value.", .range = kShare},
      {OFFPOLICY_KEY(ddpg_action),
       .help = "What ddpg's critic sees of an action: softmax, the actor's probabilities; gumbel, "
               "the action taken, with a gradient straight through it.",
       .choices = {"softmax", "gumbel"}},
      {OFFPOLICY_KEY(gumbel_temperature), .help = "Of that gradient.",
       .range = {.low = 0.0, .low_open = true}},
      {OFFPOLICY_KEY(target_entropy),
       .help = "Entropy that sac's temperature is set for, as a share of the largest.",
       .range = kShare},
      {OFFPOLICY_KEY(temperature_learning_rate),
       .help = "Learning rate of the logarithm of that temperature.", .range = at_least(0),
       .is_learning_rate = true},
      {OFFPOLICY_KEY(init_episode),
       .help = "With `run.init_from` a run's folder: which of its checkpoints, by episode; 0: the "
               "newest.",
       .range = between(0, 1e9)},
      {OFFPOLICY_KEY(eval_interval), .help = "Episodes of all ranks between evaluations.",
       .unit = "episodes", .range = between(1, 1e9)},
      {OFFPOLICY_KEY(eval_games),
       .help = "Games of an evaluation against each of greedy and bfs, half from either side.",
       .range = between(4, 1e6)},
  };
}

}  // namespace

OwnSection own_section() {
  std::vector<config::Row> rows = learning_rows();
  for (config::Row& row : acting_rows()) rows.push_back(std::move(row));
  return {{"offpolicy", "Learning from a replay of what was lived through."}, std::move(rows)};
}

void check_settings(const OffPolicy& learner, int num_ranks) {
  if (learner.batch_scope == "all" && learner.batch_size % num_ranks != 0) {
    throw ConfigError(
        "offpolicy.batch_size is {} of all ranks (offpolicy.batch_scope), which {} ranks cannot "
        "share evenly; choose a multiple of {}",
        learner.batch_size, num_ranks, num_ranks);
  }
  if (learner.learning_starts > learner.buffer_size) {
    throw ConfigError(
        "offpolicy.learning_starts is {}, more than the {} transitions that are kept "
        "(offpolicy.buffer_size)",
        learner.learning_starts, learner.buffer_size);
  }
}

std::int64_t batch_of_rank(const OffPolicy& settings, int num_ranks) {
  return settings.batch_scope == "all" ? settings.batch_size / num_ranks : settings.batch_size;
}

double learning_rate_scale(const OffPolicy& settings, int num_ranks) {
  if (settings.scale_lr == "linear") return num_ranks;
  return settings.scale_lr == "sqrt" ? std::sqrt(static_cast<double>(num_ranks)) : 1.0;
}

}  // namespace traffic::train::offpolicy
