/// The schema of the configuration has a row for each key (schema.h). This file has the rows of the
/// tables [ppo] and [lights.ppo].
#include <set>
#include <string_view>
#include <vector>

#include "rows.h"

namespace traffic::config {
namespace {

/// Key and accessor of a member of Ppo: in [lights.ppo] if kOfLights is true, else in [ppo].
#define TRAFFIC_PPO_KEY(member)                                        \
  .key = kOfLights ? "lights.ppo." #member : "ppo." #member,           \
  .field = [](Config& config) -> Field {                               \
    return kOfLights ? &config.lights.ppo.member : &config.ppo.member; \
  }

template <bool kOfLights>
std::vector<Row> rows_of_ppo() {
  return {
      {TRAFFIC_PPO_KEY(learner_device),
       .help = "Where the policy learns. `cpu`: on the CPU; `run`: on `run.device`; `auto`: on the "
               "CPU if the policy has at most 100,000 parameters, else on `run.device`. For such a "
               "small policy, launching the kernels of a minibatch on a GPU takes as long as "
               "computing the minibatch on the CPU. The encoder and the world model always run on "
               "`run.device`.",
       .choices = {"auto", "cpu", "run"}},
      {TRAFFIC_PPO_KEY(minibatch_size),
       .help = "Control steps of all ranks in a minibatch; for lights, decisions of all ranks.",
       .unit = "steps", .range = between(1, 1e7)},
      {TRAFFIC_PPO_KEY(accumulation_steps),
       .help = "Parts in which a minibatch goes forward and backward, one after the other. More "
               "parts take less memory and give the same gradient.",
       .unit = "parts", .range = between(1, 10000)},
      {TRAFFIC_PPO_KEY(num_epochs), .help = "Passes over the batch in an iteration.",
       .range = between(1, 1000)},
      {TRAFFIC_PPO_KEY(value_first_epochs),
       .help = "Passes over the first batch that fit the value alone, before the first update of "
               "the policy.",
       .range = between(0, 1000)},
      {TRAFFIC_PPO_KEY(value_epochs),
       .help = "Passes over the batch of every iteration that fit the value alone, before the "
               "updates of the policy.",
       .range = between(0, 1000)},
      {TRAFFIC_PPO_KEY(value_lambda),
       .help =
           "Lambda of the returns to which the passes of `value_first_epochs` and "
           "`value_epochs` fit the value. Near 1, the value does not learn from its own errors.",
       .range = between(0, 1)},
      {TRAFFIC_PPO_KEY(learning_rate), .help = "Learning rate at the start.", .range = above(0, 10),
       .is_learning_rate = true},
      {TRAFFIC_PPO_KEY(final_learning_rate), .help = "Learning rate at the end.",
       .range = between(0, 10), .is_learning_rate = true},
      {TRAFFIC_PPO_KEY(lr_schedule),
       .help = "How the learning rate falls after the warm-up: in a straight line, or by half a "
               "cosine as in phase 1.",
       .choices = {"linear", "cosine"}},
      {TRAFFIC_PPO_KEY(warmup_iterations),
       .help = "First iterations of PPO, in which the learning rate rises linearly from zero.",
       .unit = "iterations", .range = between(0, 1e6)},
      {TRAFFIC_PPO_KEY(weight_decay),
       .help = "L2 penalty added to the gradient of the policy and its value.",
       .range = between(0, 1)},
      {TRAFFIC_PPO_KEY(gamma), .help = "Discount per control step.", .range = between(0, 1)},
      {TRAFFIC_PPO_KEY(gae_lambda),
       .help = "Lambda of the generalised advantage estimation, per control step.",
       .range = between(0, 1)},
      {TRAFFIC_PPO_KEY(clip_range),
       .help = "How far a probability ratio may leave 1 before it is clipped.",
       .range = above(0, 1)},
      {TRAFFIC_PPO_KEY(vf_clip_range),
       .help = "How far a value may move in an update, in standard deviations of the returns. 0 "
               "means without limit.",
       .range = between(0, 1e6)},
      {TRAFFIC_PPO_KEY(ent_coef), .help = "Weight of the entropy bonus at the start.",
       .range = between(0, 10)},
      {TRAFFIC_PPO_KEY(final_ent_share),
       .help = "Share of `ent_coef` that is left at the end. The weight falls linearly.",
       .range = between(0, 1)},
      {TRAFFIC_PPO_KEY(vf_coef), .help = "Weight of the value loss.", .range = between(0, 100)},
      {TRAFFIC_PPO_KEY(desired_kl),
       .help = "Desired KL divergence between the policies before and after an update. If the KL "
               "in the last pass over the batch is less than half of this value, the policy's "
               "learning rate grows by half from the next iteration on. If the KL is more than "
               "twice this value, the rate falls to two thirds. The rate stays between a tenth "
               "and ten times the rate of the schedule. 0 means that the rate follows the schedule "
               "alone.",
       .range = between(0, 10)},
      {TRAFFIC_PPO_KEY(target_kl),
       .help =
           "The epochs of an iteration end when the KL divergence from the policy that "
           "collected the batch exceeds 1.5 times this value. 0 means that they never end early.",
       .unit = "nats", .range = between(0, 100)},
      {TRAFFIC_PPO_KEY(clip_norm), .help = "Norm to which the gradient is clipped.",
       .range = above(0, 1e6)},
  };
}

#undef TRAFFIC_PPO_KEY

}  // namespace

std::vector<Row> ppo_rows() { return rows_of_ppo<false>(); }

/// Returns the rows of [ppo] without two kinds of settings. The first seven in the list have no use
/// for the lights, whose policy learns on the CPU, in whole minibatches, together with its value
/// function. The other seven, such as the shape of the schedule and the limits of an update, have
/// the same values for vehicles and lights.
std::vector<Row> lights_ppo_rows() {
  static const std::set<std::string_view> kLeftOut{
      "learner_device",    "accumulation_steps", "value_first_epochs", "value_epochs",
      "value_lambda",      "final_ent_share",    "desired_kl",         "lr_schedule",
      "warmup_iterations", "weight_decay",       "clip_range",         "vf_clip_range",
      "vf_coef",           "clip_norm"};
  std::vector<Row> rows = rows_of_ppo<true>();
  std::erase_if(rows, [](const Row& row) {
    return kLeftOut.contains(std::string_view(row.key).substr(row.section().size() + 1));
  });
  return rows;
}

}  // namespace traffic::config
