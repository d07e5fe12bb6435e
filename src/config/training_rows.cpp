/// The schema of the configuration has a row for each key (schema.h). This file has the rows of the
/// tables [training], [episodes] and [imitation].
#include "rows.h"
#include "traffic/config/controller_spec.h"

namespace traffic::config {

std::vector<Row> training_rows() {
  return {
      {TRAFFIC_KEY(training.iterations),
       .help = "Number of iterations. Each one collects experience and then updates the policies.",
       .unit = "iterations", .range = between(1, 1e6)},
      {TRAFFIC_KEY(training.minutes),
       .help = "Time after which the training begins no further iteration: it evaluates the "
               "controller and ends with the best so far. The time counts from the start of the "
               "training, or from when it was resumed. 0 means that only `training.iterations` "
               "limits the training.",
       .unit = "min", .range = between(0, 1e6)},
      {TRAFFIC_KEY(training.eval_interval),
       .help = "Iterations between evaluations on the selection seeds, which training never sees.",
       .unit = "iterations", .range = between(1, 1e6)},
      {TRAFFIC_KEY(training.eval_episodes), .help = "Episodes of an evaluation.",
       .unit = "episodes", .range = between(1, 100000)},
      {TRAFFIC_KEY(training.final_episodes),
       .help = "Episodes of the final comparison. It measures the best controller on seeds that "
               "nothing was chosen on. If the controller began as a script, it also compares the "
               "controller with this script. 0 means `training.eval_episodes`.",
       .unit = "episodes", .range = between(0, 100000)},
      {TRAFFIC_KEY(training.decide),
       .help = "How the trained controller decides in evaluations and after training. `greedy`: it "
               "takes the most probable command; `sampled`: it draws a command by the "
               "probabilities; `auto`: `sampled` if the evaluations show that this is better by "
               "more than a standard error, else `greedy`. The checkpoint stores the choice.",
       .choices = {"auto", "greedy", "sampled"}},
      {TRAFFIC_KEY(training.max_rollbacks),
       .help = "How often training may return to the best controller after an evaluation fell "
               "below the highest one by more than the 95 % interval of the difference. 0 means "
               "never. Training by Q-learning never returns.",
       .range = between(0, 1000)},
      {TRAFFIC_KEY(training.rollback_factor),
       .help = "Factor on the learning rate at each return to the best controller.",
       .range = {.low = 0, .high = 1, .low_open = true}},
  };
}

std::vector<Row> episodes_rows() {
  return {
      {TRAFFIC_KEY(episodes.length_s),
       .help =
           "Length of a training episode. Each episode begins at a random multiple of this "
           "length in the scenario, in traffic that was saved while the baselines were "
           "measured. 0 means that an episode is the whole scenario. Evaluations always run the "
           "whole scenario.",
       .unit = "s", .range = between(0, 1e6)},
      {TRAFFIC_KEY(episodes.rollout_fragment_length),
       .help =
           "Control steps after which an environment hands over its experience. 0 means at the end "
           "of each episode.",
       .unit = "steps", .range = between(0, 1e6)},
      {TRAFFIC_KEY(episodes.train_batch_size),
       .help = "Minimum number of control steps of all ranks in an iteration. The program rounds "
               "it up to whole fragments or episodes.",
       .unit = "steps", .range = between(1, 1e7)},
      {TRAFFIC_KEY(episodes.demand),
       .help = "Minimum and maximum factor on the scenario's demand. Every training episode draws "
               "its own factor between them. Evaluations on the selection seeds use factors spread "
               "over the same range.",
       .range = {.low = 0.0, .high = 100.0, .low_open = true}},
      {TRAFFIC_KEY(episodes.demand_curriculum),
       .help =
           "Factors on the demand of training episodes, each for an equal part of the "
           "iterations, as in `[0.7, 0.85, 1.0]`. Empty means the demand of the scenario. "
           "Baselines and evaluations always have the demand of the scenario, so the log leaves "
           "out `rollout/gain_of_means` while the factor is not 1.",
       .range = above(0, 10)},
      {TRAFFIC_KEY(episodes.credit),
       .help = "Whether reward, value and advantage are kept for each conflict or for the whole "
               "network.",
       .choices = {"conflict", "global"}},
      {TRAFFIC_KEY(episodes.reward_scale),
       .help = "Reward for getting the whole expected demand through.", .range = above(0, 1e6)},
      {TRAFFIC_KEY(episodes.intervention_cost),
       .help = "Cost of a second under control, charged to the decision that gave the command.",
       .range = between(0, 1000)},
      {TRAFFIC_KEY(episodes.hard_brake_cost),
       .help = "Cost of a second in which a commanded vehicle or its follower brakes hard.",
       .range = between(0, 1000)},
      {TRAFFIC_KEY(episodes.baseline_episodes),
       .help = "Uncontrolled episodes whose mean growth of the score is subtracted from the "
               "reward.",
       .unit = "episodes", .range = between(1, 100000)},
      {TRAFFIC_KEY(episodes.baseline_cache),
       .help =
           "Folder that keeps the measured baselines for later runs. Empty means that every run "
           "measures them again."},
  };
}

std::vector<Row> imitation_rows() {
  return {
      {TRAFFIC_KEY(imitation.iterations),
       .help = "Number of iterations, at the start of training, in which the policy imitates "
               "`imitation.controllers`. The learning rate falls from `ppo.learning_rate` to "
               "`ppo.final_learning_rate` in them. PPO then follows its own schedule, which counts "
               "from the first iteration of the training.",
       .unit = "iterations", .range = between(0, 1e6)},
      {TRAFFIC_KEY(imitation.controllers),
       .help = "The scripted controllers to imitate, such as `\"yield(lead_s=12)\"`: one for all "
               "scenarios, or one for each of `env.scenarios`.",
       .refuse = refuse_to_imitate},
      {TRAFFIC_KEY(imitation.agreement),
       .help =
           "Imitation ends before `imitation.iterations` when the greedy policy agrees this "
           "well with the script on episodes that it has not learned from. The agreement is "
           "the F1 score: twice the number of commands that both give, divided by the number of "
           "the policy's commands plus the number of the script's commands. 0 means that "
           "imitation never ends early.",
       .range = between(0, 1)},
      {TRAFFIC_KEY(imitation.dagger_share),
       .help = "Share of the imitated episodes, from the second iteration on, in which the policy "
               "gives the commands and the script only says which commands it would give. The "
               "policy then learns what to do in traffic that its own mistakes lead to (DAgger, "
               "Ross et al. 2011).",
       .range = between(0, 1)},
      {TRAFFIC_KEY(imitation.prior_coef),
       .help =
           "After imitation, the advantage of a decision is lowered by this much for each nat "
           "by which the decision is more probable than under the imitated policy. The unit is the "
           "standard deviation of the advantage. The weight falls linearly to 0 at the last "
           "iteration.",
       .range = between(0, 1000)},
  };
}

}  // namespace traffic::config
