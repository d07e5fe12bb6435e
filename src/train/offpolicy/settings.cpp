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
       .help = "The learner: dqn (double, dueling), ddpg (an actor, and a critic of its actions) "
               "or sac (soft actor-critic for discrete actions).",
       .choices = {"dqn", "ddpg", "sac"}},
      {OFFPOLICY_KEY(max_episodes),
       .help = "Length of the training in episodes, summed over all ranks.", .unit = "episodes",
       .range = between(1, 1e9)},
      {OFFPOLICY_KEY(hidden_dim), .help = "Width of the hidden layers of a network.",
       .range = between(4, 4096)},
      {OFFPOLICY_KEY(layers), .help = "Number of hidden layers of a network.",
       .range = between(1, 8)},
      {OFFPOLICY_KEY(buffer_size), .help = "Number of transitions that a rank keeps to learn from.",
       .range = between(1000, 1e9)},
      {OFFPOLICY_KEY(learning_starts),
       .help = "Number of transitions that every rank must have before the first update.",
       .range = between(1, 1e9)},
      {OFFPOLICY_KEY(batch_size), .help = "Number of transitions of an update.",
       .range = between(1, 1e6)},
      {OFFPOLICY_KEY(batch_scope),
       .help = "Whether `offpolicy.batch_size` is the batch of each rank or of all ranks together.",
       .choices = {"rank", "all"}},
      {OFFPOLICY_KEY(update_interval),
       .help = "Number of environment steps that a rank makes between two updates.",
       .range = between(1, 1e6)},
      {OFFPOLICY_KEY(n_step),
       .help = "Number of rewards in a return, before the value of the next state.",
       .range = between(1, 32)},
      {OFFPOLICY_KEY(gamma), .help = "Discount factor per step.", .range = kShare},
      {OFFPOLICY_KEY(learning_rate),
       .help = "Learning rate of the critics of ddpg and sac, and of dqn.",
       .range = {.low = 0.0, .low_open = true}, .is_learning_rate = true},
      {OFFPOLICY_KEY(actor_learning_rate), .help = "Learning rate of the actor of ddpg and sac.",
       .range = {.low = 0.0, .low_open = true}, .is_learning_rate = true},
      {OFFPOLICY_KEY(final_learning_rate_share),
       .help = "Share of the learning rates that is left at the end of the training. They fall "
               "linearly.",
       .range = kShare},
      {OFFPOLICY_KEY(scale_lr),
       .help = "Factor on the learning rates: none, the number of ranks (linear), or its square "
               "root (sqrt).",
       .choices = {"none", "linear", "sqrt"}},
      {OFFPOLICY_KEY(clip_norm),
       .help = "Norm to which each network's gradient is clipped; 0: not clipped.",
       .range = at_least(0)},
      {OFFPOLICY_KEY(tau),
       .help = "Share by which every update moves the target networks towards the trained ones; 0: "
               "target networks are set equal every `offpolicy.target_interval` updates.",
       .range = kShare},
      {OFFPOLICY_KEY(target_interval),
       .help = "Number of updates after which target networks are set equal to the trained ones, "
               "if `offpolicy.tau` is 0.",
       .unit = "updates", .range = between(1, 1e9)},
  };
}

std::vector<config::Row> acting_rows() {
  return {
      {OFFPOLICY_KEY(epsilon), .help = "Share of random actions at the start of the training.",
       .range = kShare},
      {OFFPOLICY_KEY(epsilon_speed),
       .help = "Factor on the share of random actions for each environment step of all ranks.",
       .range = kAboveZero},
      {OFFPOLICY_KEY(epsilon_end), .help = "Minimum share of random actions.", .range = kShare},
      {OFFPOLICY_KEY(ddpg_action),
       .help = "The action that the critic of ddpg reads: softmax, the actor's probabilities; "
               "gumbel, the action taken, with a straight-through gradient.",
       .choices = {"softmax", "gumbel"}},
      {OFFPOLICY_KEY(gumbel_temperature),
       .help = "Temperature of the gradient, if `offpolicy.ddpg_action` is gumbel.",
       .range = {.low = 0.0, .low_open = true}},
      {OFFPOLICY_KEY(target_entropy),
       .help = "Entropy of the actions to which sac adapts its temperature, as a share of the "
               "maximum entropy.",
       .range = kShare},
      {OFFPOLICY_KEY(temperature_learning_rate),
       .help = "Learning rate of the logarithm of sac's temperature.", .range = at_least(0),
       .is_learning_rate = true},
      {OFFPOLICY_KEY(init_episode),
       .help = "If `run.init_from` is a run folder: the episode of the checkpoint to start from; "
               "0: the newest.",
       .range = between(0, 1e9)},
      {OFFPOLICY_KEY(eval_interval),
       .help = "Number of episodes between two evaluations, summed over all ranks.",
       .unit = "episodes", .range = between(1, 1e9)},
      {OFFPOLICY_KEY(eval_games),
       .help = "Number of games of an evaluation against each of greedy and bfs. In half of them "
               "the trained team plays on the other side.",
       .range = between(4, 1e6)},
  };
}

}  // namespace

config::OwnSection own_section() {
  std::vector<config::Row> rows = learning_rows();
  for (config::Row& row : acting_rows()) rows.push_back(std::move(row));
  return {{"offpolicy", "Off-policy learning from a replay of experience."}, std::move(rows)};
}

void check_settings(const OffPolicy& learner, int num_ranks) {
  if (learner.batch_scope == "all" && learner.batch_size % num_ranks != 0) {
    throw ConfigError(
        "offpolicy.batch_size is {} for all ranks together (offpolicy.batch_scope), which {} ranks "
        "cannot share evenly; choose a multiple of {}",
        learner.batch_size, num_ranks, num_ranks);
  }
  if (learner.learning_starts > learner.buffer_size) {
    throw ConfigError(
        "offpolicy.learning_starts is {}, more than the {} transitions that a rank keeps "
        "(offpolicy.buffer_size); lower it",
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
