/// Rows of [action], [controller] and [ppo].
#include <algorithm>
#include <array>

#include "rows.h"
#include "traffic/config/controller_spec.h"

namespace traffic::config {
namespace {

constexpr std::array<std::string_view, 9> kCommands{
    "none", "stop", "slow", "hold", "fast", "arrive_late", "arrive_green", "left", "right"};
constexpr std::array<std::string_view, 5> kInputs{"features", "globals", "encoding", "pooled",
                                                  "latents"};

std::string refuse_as_command(std::string_view text) {
  if (std::find(kCommands.begin(), kCommands.end(), text) != kCommands.end()) return {};
  return "expected none, stop, slow, hold, fast, arrive_late, arrive_green, left or right";
}

std::string refuse_as_advisor(std::string_view text) {
  return text.empty() ? std::string() : refuse_to_imitate(text);
}

std::string refuse_as_input(std::string_view text) {
  if (std::find(kInputs.begin(), kInputs.end(), text) != kInputs.end()) return {};
  return "expected features, globals, encoding, pooled or latents";
}

}  // namespace

std::vector<Row> action_rows() {
  return {
      {TRAFFIC_KEY(action.longitudinal),
       .help = "How a vehicle is told to drive: by one of `action.commands`, by a target speed or "
               "by an acceleration.",
       .choices = {"categorical", "target_speed", "acceleration"}},
      {TRAFFIC_KEY(action.commands),
       .help = "Commands to choose from; none, which asks for nothing, comes first.",
       .refuse = refuse_as_command},
      {TRAFFIC_KEY(action.lane_change),
       .help =
           "Whether a change of lanes may be asked for beside the command to drive, by a choice "
           "of its own; `left` and `right` of `action.commands` are one choice with the others."},
  };
}

std::vector<Row> controller_rows() {
  return {
      {TRAFFIC_KEY(controller.inputs),
       .help = "What the controller sees: a vehicle's own named features, the global metrics, the "
               "graph encoder's encoding of it, the mean encoding of the connected vehicles, the "
               "world model's latents. Parts of the model that nothing needs are not run.",
       .refuse = refuse_as_input},
      {TRAFFIC_KEY(controller.perception_precision),
       .help = "Number format of the products of encoder and world model while they are frozen, in "
               "phases 2 and 3 and in evaluation. bf16 is faster where the processor has products "
               "in it; fp16 needs GPUs.",
       .choices = {"fp32", "bf16", "fp16"}},
      {TRAFFIC_KEY(controller.hidden_dim), .help = "Width of the controller.",
       .range = between(4, 4096)},
      {TRAFFIC_KEY(controller.layers), .help = "Hidden layers of the controller.",
       .range = between(1, 8)},
      {TRAFFIC_KEY(controller.top_k), .help = "Vehicles under control at once, at most.",
       .unit = "vehicles", .range = between(1, 1000)},
      {TRAFFIC_KEY(controller.importance_weight),
       .help = "Weight of a vehicle's importance in the score by which vehicles are picked.",
       .range = between(0, 1000)},
      {TRAFFIC_KEY(controller.impact_weight),
       .help = "Weight of the predicted impact in that score.", .range = between(0, 1000)},
      {TRAFFIC_KEY(controller.first_command_probability),
       .help =
           "Probability with which an untrained controller commands a picked vehicle, if it has "
           "no `controller.advisor`.",
       .range = {.low = 0, .high = 1, .low_open = true, .high_open = true}},
      {TRAFFIC_KEY(controller.advisor),
       .help =
           "A scripted controller, as `\"meter(density=25)\"`, that is asked in every state what "
           "it would do. The controller sees that and begins by doing it, so that it learns where "
           "to do something else. Between two decisions it goes on, as often as it would be asked "
           "alone. It is asked wherever the trained controller is used, too. Empty: none.",
       .refuse = refuse_as_advisor},
      {TRAFFIC_KEY(controller.advice_probability),
       .help = "Probability with which an untrained controller does what its advisor would; the "
               "rest is shared by the other commands. Where the advisor would do nothing, the rest "
               "is a fifth of that.",
       .range = {.low = 0, .high = 1, .low_open = true, .high_open = true}},
  };
}

std::vector<Row> ppo_rows() {
  return {
      {TRAFFIC_KEY(ppo.iterations), .help = "Rollouts, each followed by an update.",
       .unit = "iterations", .range = between(1, 1e6)},
      {TRAFFIC_KEY(ppo.learner_device),
       .help = "Where the controller learns: cpu; run, where `run.device` is; auto, on the CPU "
               "while it has at "
               "most 100,000 parameters, since a minibatch of it costs there what its launches "
               "cost on a GPU. "
               "Perception runs where `run.device` is.",
       .choices = {"auto", "cpu", "run"}},
      {TRAFFIC_KEY(ppo.imitation_iterations),
       .help =
           "Of the iterations, the first ones, in which the controller learns to do what "
           "`ppo.imitation_controllers` do; the learning rate falls from `ppo.learning_rate` to "
           "`ppo.final_learning_rate` in them, and PPO begins with the whole again.",
       .unit = "iterations", .range = between(0, 1e6)},
      {TRAFFIC_KEY(ppo.imitation_controllers),
       .help =
           "The scripted controllers to imitate, as `\"yield(lead_s=12)\"`: one, or one for each "
           "of `env.scenarios`.",
       .refuse = refuse_to_imitate},
      {TRAFFIC_KEY(ppo.imitation_agreement),
       .help =
           "Imitation ends before `ppo.imitation_iterations` when the greedy controller agrees "
           "this well with the scripted one on episodes that it has not learned from: twice the "
           "commands that both give over the commands of either; 0: never.",
       .range = between(0, 1)},
      {TRAFFIC_KEY(ppo.dagger_share),
       .help =
           "Share of the episodes of imitation, from the second iteration on, that the controller "
           "itself drives while the scripted one says what it would do: so it learns what to do in "
           "the traffic that its own mistakes lead to (DAgger, Ross et al. 2011).",
       .range = between(0, 1)},
      {TRAFFIC_KEY(ppo.prior_coef),
       .help = "After imitation: weight, in deviations of the advantage, of each nat by which a "
               "decision became more probable than it was to the controller that had imitated. "
               "Falls to 0 in a straight line until the last iteration.",
       .range = between(0, 1000)},
      {TRAFFIC_KEY(ppo.train_batch_size),
       .help = "Control steps of all ranks in an iteration, at least; rounded up to whole "
               "fragments or episodes.",
       .unit = "steps", .range = between(1, 1e7)},
      {TRAFFIC_KEY(ppo.minibatch_size), .help = "Control steps of all ranks in a policy step.",
       .unit = "steps", .range = between(1, 1e7)},
      {TRAFFIC_KEY(ppo.accumulation_steps),
       .help = "Parts in which a policy step's states go forward and backward, one after the "
               "other: less memory, the same gradient.",
       .unit = "parts", .range = between(1, 10000)},
      {TRAFFIC_KEY(ppo.num_epochs), .help = "Passes over the batch in an iteration.",
       .range = between(1, 1000)},
      {TRAFFIC_KEY(ppo.rollout_fragment_length),
       .help = "Control steps that an environment contributes at a time; 0: whole episodes.",
       .unit = "steps", .range = between(0, 1e6)},
      {TRAFFIC_KEY(ppo.episode_s),
       .help = "Length of a training episode, which then begins at any of its "
               "multiples in the "
               "scenario, in traffic that was saved while the baselines were "
               "measured; 0: all of "
               "the scenario. Evaluations always run all of it.",
       .unit = "s", .range = between(0, 1e6)},
      {TRAFFIC_KEY(ppo.value_first_epochs),
       .help = "Passes over the first batch that fit the value alone, before the first policy "
               "step.",
       .range = between(0, 1000)},
      {TRAFFIC_KEY(ppo.value_epochs),
       .help = "Passes over the batch of every iteration that fit the value alone, before its "
               "policy steps.",
       .range = between(0, 1000)},
      {TRAFFIC_KEY(ppo.value_lambda),
       .help = "Decay of the returns that those passes fit; near 1, so that the value does not "
               "learn from its own errors.",
       .range = between(0, 1)},
      {TRAFFIC_KEY(ppo.learning_rate), .help = "Learning rate at the start.",
       .range = above(0, 10)},
      {TRAFFIC_KEY(ppo.final_learning_rate), .help = "Learning rate at the end.",
       .range = between(0, 10)},
      {TRAFFIC_KEY(ppo.lr_schedule),
       .help = "How the learning rate gets there after the warm-up: in a straight line, or by half "
               "a cosine as in phase 1.",
       .choices = {"linear", "cosine"}},
      {TRAFFIC_KEY(ppo.warmup_iterations),
       .help = "First iterations of PPO, in which the learning rate rises from zero in a straight "
               "line.",
       .unit = "iterations", .range = between(0, 1e6)},
      {TRAFFIC_KEY(ppo.weight_decay),
       .help = "L2 penalty added to the gradient of the controller and its value.",
       .range = between(0, 1)},
      {TRAFFIC_KEY(ppo.gamma), .help = "Discount of a control step.", .range = between(0, 1)},
      {TRAFFIC_KEY(ppo.gae_lambda),
       .help = "Decay of the generalised advantage estimation in a control step.",
       .range = between(0, 1)},
      {TRAFFIC_KEY(ppo.clip_range),
       .help = "How far a probability ratio may leave 1 before it is clipped.",
       .range = above(0, 1)},
      {TRAFFIC_KEY(ppo.vf_clip_range),
       .help = "How far a value may move in an update, in deviations of the returns; 0: any way.",
       .range = between(0, 1e6)},
      {TRAFFIC_KEY(ppo.ent_coef), .help = "Weight of the entropy bonus at the start.",
       .range = between(0, 10)},
      {TRAFFIC_KEY(ppo.final_ent_share),
       .help = "What is left of it at the end, reached in a straight line.",
       .range = between(0, 1)},
      {TRAFFIC_KEY(ppo.vf_coef), .help = "Weight of the value loss.", .range = between(0, 100)},
      {TRAFFIC_KEY(ppo.desired_kl),
       .help =
           "Divergence (KL) of the policy after an update from that before it that is wanted: "
           "where the last pass has less than half of it the policy's learning rate is half as "
           "much again from the next iteration on, where it has more than twice of it two thirds, "
           "within a tenth and ten times of what the schedule says; 0: as the schedule says.",
       .range = between(0, 10)},
      {TRAFFIC_KEY(ppo.target_kl),
       .help = "The epochs of an iteration end when the policy has moved 1.5 times this far; 0: "
               "never early.",
       .unit = "nats", .range = between(0, 100)},
      {TRAFFIC_KEY(ppo.clip_norm), .help = "Norm to which the gradient is clipped.",
       .range = above(0, 1e6)},
      {TRAFFIC_KEY(ppo.credit),
       .help = "Whether reward, value and advantage are kept for each conflict or for the whole "
               "network.",
       .choices = {"conflict", "global"}},
      {TRAFFIC_KEY(ppo.reward_scale),
       .help = "Reward for getting the whole expected demand through.", .range = above(0, 1e6)},
      {TRAFFIC_KEY(ppo.intervention_cost),
       .help = "What a second under control costs the decision that asked for it.",
       .range = between(0, 1000)},
      {TRAFFIC_KEY(ppo.hard_brake_cost),
       .help = "What a second of hard braking of a commanded vehicle or its follower costs.",
       .range = between(0, 1000)},
      {TRAFFIC_KEY(ppo.demand_curriculum),
       .help = "Factors on the demand of training episodes, each for an equal part of the "
               "iterations, as in [0.7, 0.85, 1.0]; empty: the demand of the scenario. Baselines "
               "and evaluations have the scenario's, so that `rollout/gain_of_means` is left out "
               "while the factor is not 1.",
       .range = above(0, 10)},
      {TRAFFIC_KEY(ppo.baseline_episodes),
       .help = "Uncontrolled episodes whose mean growth of the score is taken off the reward.",
       .unit = "episodes", .range = between(1, 100000)},
      {TRAFFIC_KEY(ppo.baseline_cache),
       .help = "Folder in which that is kept for later runs; empty: it is measured in every run."},
      {TRAFFIC_KEY(ppo.eval_interval),
       .help = "Iterations between evaluations on seeds that are not trained on.",
       .unit = "iterations", .range = between(1, 1e6)},
      {TRAFFIC_KEY(ppo.eval_episodes), .help = "Episodes of an evaluation.", .unit = "episodes",
       .range = between(1, 100000)},
      {TRAFFIC_KEY(ppo.handover_episodes),
       .help = "Episodes, on seeds of their own, with which the best controller is measured in the "
               "end and, where a script was imitated, compared with that; 0: ppo.eval_episodes.",
       .unit = "episodes", .range = between(0, 100000)},
      {TRAFFIC_KEY(ppo.decide),
       .help = "How the controller decides in evaluations and when it is handed over: the most "
               "probable command, one that is drawn by the probabilities, or, with auto, the "
               "latter where the evaluations show it to be better by more than a standard error. "
               "Kept in the checkpoint.",
       .choices = {"auto", "greedy", "sampled"}},
      {TRAFFIC_KEY(ppo.max_rollbacks),
       .help = "How often training may go back to the best controller because an evaluation fell "
               "below the highest by more than the 95 % interval of the difference; 0: never.",
       .range = between(0, 1000)},
      {TRAFFIC_KEY(ppo.rollback_factor), .help = "Factor on the learning rate at each of these.",
       .range = {.low = 0, .high = 1, .low_open = true}},
  };
}

}  // namespace traffic::config
