/// The schema of the configuration has a row for each key (schema.h). This file has the rows of the
/// tables [vehicles] and [lights], the tables of the agents.
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

std::vector<Row> vehicles_rows() {
  return {
      {TRAFFIC_KEY(vehicles.longitudinal),
       .help = "How the controller tells a vehicle to drive: by one of `vehicles.commands`, by a "
               "target speed or by an acceleration.",
       .choices = {"categorical", "target_speed", "acceleration"}},
      {TRAFFIC_KEY(vehicles.commands),
       .help =
           "Commands to choose from. The first must be `none`, which leaves the vehicle to SUMO.",
       .refuse = refuse_as_command},
      {TRAFFIC_KEY(vehicles.lane_change),
       .help = "Whether the controller also chooses a lane change for each vehicle, beside its "
               "command. It must be false if `vehicles.commands` has `left` or `right`."},
      {TRAFFIC_KEY(vehicles.inputs),
       .help = "What the controller sees. `features`: hand-made features of each vehicle, such as "
               "speed and distance; `globals`: features of the whole traffic; `encoding`: the "
               "graph encoder's encoding of the vehicle; "
               "`pooled`: the mean encoding of all connected vehicles; `latents`: the world "
               "model's latents. The program does not run the parts of the model that no input "
               "needs.",
       .refuse = refuse_as_input},
      {TRAFFIC_KEY(vehicles.perception_precision),
       .help = "Number format of the matrix products in the encoder and the world model while they "
               "are frozen, in phases 2 and 3 and in evaluations. bf16 is faster on processors "
               "that multiply in it. fp16 needs GPUs.",
       .choices = {"fp32", "bf16", "fp16"}},
      {TRAFFIC_KEY(vehicles.hidden_dim), .help = "Width of the controller's hidden layers.",
       .range = between(4, 4096)},
      {TRAFFIC_KEY(vehicles.layers), .help = "Number of the controller's hidden layers.",
       .range = between(1, 8)},
      {TRAFFIC_KEY(vehicles.top_k), .help = "Maximum number of vehicles under control at once.",
       .unit = "vehicles", .range = between(1, 1000)},
      {TRAFFIC_KEY(vehicles.importance_weight),
       .help = "Weight of a vehicle's importance in the score by which the controller picks "
               "vehicles.",
       .range = between(0, 1000)},
      {TRAFFIC_KEY(vehicles.impact_weight),
       .help =
           "Weight of a vehicle's impact in the score by which the controller picks vehicles. The "
           "controller computes the impact from the world model's latents.",
       .range = between(0, 1000)},
      {TRAFFIC_KEY(vehicles.first_command_probability),
       .help = "Probability with which an untrained controller commands a vehicle that it picked, "
               "if it has no `vehicles.advisor`.",
       .range = {.low = 0, .high = 1, .low_open = true, .high_open = true}},
      {TRAFFIC_KEY(vehicles.advisor),
       .help = "A scripted controller, such as `\"meter(density=25)\"`, that gives advice in every "
               "state. The policy sees the advice and follows it at first, so that it learns where "
               "to do something else. The script also advises when the trained controller is used. "
               "Empty means no advice.",
       .refuse = refuse_as_advisor},
      {TRAFFIC_KEY(vehicles.advice_probability),
       .help = "Probability with which an untrained controller follows the advice to give a "
               "command. The other commands share the remaining probability. If the advice is to "
               "do nothing, the controller deviates from it only a fifth as often.",
       .range = {.low = 0, .high = 1, .low_open = true, .high_open = true}},
  };
}

std::vector<Row> lights_rows() {
  return {
      {TRAFFIC_KEY(lights.hidden_dim), .help = "Width of the lights' network.",
       .range = between(4, 1024)},
      {TRAFFIC_KEY(lights.encoder_layers),
       .help = "Layers of attention between the lights of a road network. Each layer lets a light "
               "see the states of lights that are one junction farther away. 0 means that a light "
               "sees only its own state.",
       .range = between(0, 8)},
      {TRAFFIC_KEY(lights.advisor),
       .help = "How the policy begins, and what it may choose. `greedy`: the policy replaces the "
               "lights' programs, may choose any green of a light, and begins as the script "
               "`greedy`. `program`: the policy keeps the order of the phases in each light's "
               "program, chooses how long they last, and begins as the program. A script that "
               "keeps the programs, such as `retime(weight=2)`: as with `program`, but the policy "
               "begins as this script.",
       .refuse = refuse_as_light_advisor},
      {TRAFFIC_KEY(lights.reward_scale),
       .help = "What a light's reward loses for each second that a vehicle loses before the light.",
       .range = {.low = 0.0, .high = 1e6, .low_open = true}},
      {TRAFFIC_KEY(lights.max_greens),
       .help = "Only for Q-learning: maximum number of greens of a light. The replay reserves "
               "space for this number in each decision.",
       .range = between(2, 64)},
  };
}

}  // namespace traffic::config
