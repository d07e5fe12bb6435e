// Writes the table of exported networks as JSON.
#include "export/policy_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <string_view>

#include "traffic/config/controller_spec.h"
#include "traffic/scene/action.h"
#include "traffic/scene/frame.h"
#include "traffic/scene/signal_features.h"

namespace traffic::train {
namespace {

using nlohmann::ordered_json;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A limit of a range; null stands for infinity.
ordered_json limit(double value) {
  return std::isinf(value) ? ordered_json() : ordered_json(value);
}

/// Valid range of the features of vehicles, of pairs and of the road that are not simply 0 or more.
struct Range {
  std::string_view feature;
  double low;
  double high;
};
constexpr std::array kRanges{Range{"acceleration_mps2", -kInfinity, kInfinity},
                             Range{"completion", 0, 1},
                             Range{"is_cv", 0, 1},
                             Range{"time_sin", -1, 1},
                             Range{"time_cos", -1, 1},
                             Range{"line_distance_m", 0, 400},
                             Range{"line_near_m", 0, 100},
                             Range{"on_minor", 0, 1},
                             Range{"on_major", 0, 1},
                             Range{"in_zone", 0, 1},
                             Range{"downstream", 0, 1},
                             Range{"first_cv", 0, 1},
                             Range{"lane_end_m", 0, 400},
                             Range{"lane_ends", 0, 1},
                             Range{"leader_gap_m", -kInfinity, 100},
                             Range{"leader_speed_mps", -kInfinity, kInfinity},
                             Range{"follower_gap_m", -kInfinity, 100},
                             Range{"follower_speed_mps", -kInfinity, kInfinity},
                             Range{"commanded", 0, 1},
                             Range{"others_held", 0, 1},
                             Range{"signal_red", 0, 1},
                             Range{"signal_change_s", 0, 120},
                             Range{"signal_cycle", 0, 1},
                             Range{"conflicting_signal", 0, 1},
                             Range{"conflicting_green", 0, 1},
                             Range{"conflicting_change_s", 0, 120},
                             Range{"conflicting_cycle", 0, 1},
                             Range{"distance_m", -kInfinity, kInfinity},
                             Range{"relative_speed_mps", -kInfinity, kInfinity},
                             Range{"ttc_s", 0, 10},
                             Range{"thw_s", 0, 10},
                             Range{"mean_accel_mps2", -kInfinity, kInfinity},
                             Range{"halted_share", 0, 1},
                             Range{"slow_share", 0, 1},
                             Range{"mean_completion", 0, 1},
                             Range{"time_share", 0, 1}};

ordered_json columns_of(std::span<const scene::FeatureSpec> features) {
  ordered_json columns = ordered_json::array();
  for (const scene::FeatureSpec& feature : features) {
    const auto* range = std::ranges::find(kRanges, feature.name, &Range::feature);
    const bool listed = range != kRanges.end();
    columns.push_back({{"name", feature.name},
                       {"unit", feature.unit},
                       {"offset", feature.offset},
                       {"scale", feature.scale},
                       {"low", limit(listed ? range->low : 0.0)},
                       {"high", limit(listed ? range->high : kInfinity)},
                       {"help", feature.help}});
  }
  return columns;
}

ordered_json columns_of(std::span<const scene::SignalFeatureSpec> features) {
  ordered_json columns = ordered_json::array();
  for (const scene::SignalFeatureSpec& feature : features) {
    columns.push_back({{"name", feature.name},
                       {"unit", feature.unit},
                       {"scale", feature.scale},
                       {"cap", limit(feature.cap)},
                       {"logarithmic", feature.is_logarithmic},
                       {"low", limit(feature.low)},
                       {"high", limit(feature.high)},
                       {"help", feature.help}});
  }
  return columns;
}

ordered_json ports_of(std::span<const PlainPort> ports) {
  ordered_json all = ordered_json::array();
  for (const PlainPort& port : ports) {
    all.push_back({{"name", port.name},
                   {"type", port.type == PlainType::kFloat ? "float32" : "int64"},
                   {"shape", port.shape}});
  }
  return all;
}

/// Adds the meaning of an input or output, and of its columns.
void describe(ordered_json& inputs, std::string_view name, std::string_view help,
              ordered_json columns = {}) {
  for (ordered_json& input : inputs) {
    if (input["name"] != name) continue;
    input["help"] = help;
    if (!columns.is_null()) input["columns"] = std::move(columns);
  }
}

void describe_pairs(ordered_json& inputs, std::string_view nodes, ordered_json columns) {
  describe(inputs, "edge_source", fmt::format("index of the neighbour among the {}", nodes));
  describe(inputs, "edge_target",
           fmt::format("index among the {} of the one that sees the neighbour", nodes));
  describe(inputs, "edge_features", "features of each pair of neighbours", std::move(columns));
}

const char* help_of(const scene::CommandKind& kind) {
  if (kind.lane_change == scene::LaneChange::kLeft) return "change to the lane on the left";
  if (kind.lane_change == scene::LaneChange::kRight) return "change to the lane on the right";
  switch (kind.longitudinal) {
    case scene::Longitudinal::kNone:
      return "no command: the vehicle's own driver decides";
    case scene::Longitudinal::kStop:
      return "approach a speed of 0 m/s";
    case scene::Longitudinal::kSlow:
      return "approach target_mps";
    case scene::Longitudinal::kHold:
      return "keep the speed that the vehicle has now";
    case scene::Longitudinal::kFast:
      return "approach the highest speed at which the driver would drive here";
    case scene::Longitudinal::kArriveLate:
      return "reach the stop line when the conflicting streams lose a green that is on or begins "
             "within `value` seconds";
    case scene::Longitudinal::kArriveGreen:
      return "reach the stop line when the vehicle's own light turns green";
    default:
      return "";
  }
}

ordered_json commands_of_table(const config::Config& config) {
  ordered_json commands = ordered_json::array();
  for (const std::string& name : config.vehicles.commands) {
    const scene::CommandKind kind = scene::command_kind_of(name);
    const bool late = kind.longitudinal == scene::Longitudinal::kArriveLate;
    ordered_json command = {
        {"name", name},
        {"longitudinal", scene::name_of(kind.longitudinal)},
        {"lane_change", static_cast<int>(kind.lane_change)},
        {"value", late ? config.env.lead_s : 0.0},
        {"hold_s",
         late && config.env.commit_s > 0 ? config.env.commit_s : config.env.control_period_s}};
    if (kind.longitudinal == scene::Longitudinal::kSlow) {
      command["target_mps"] = config.env.slow_mps;
    }
    command["help"] = help_of(kind);
    commands.push_back(std::move(command));
  }
  return commands;
}

}  // namespace

double short_number(float value) { return std::stod(fmt::format("{}", value)); }

ordered_json vehicle_table(const config::Config& config, const PlainNetwork& network,
                           const PlainNetwork* memory, Decides decides, float log_std) {
  const config::Vehicles& vehicles = config.vehicles;
  ordered_json table = {
      {"torchscript", "vehicles.pt"},
      {"onnx", "vehicles.onnx"},
      {"network", "a perceptron over each candidate and the whole road; the same for all vehicles"},
      {"decides", to_string(decides)},
      {"max_commanded", vehicles.top_k},
      {"control_period_s", config.env.control_period_s}};
  if (vehicles.advisor.empty()) {
    table["advisor"] = nullptr;
    table["advice"] = "none: the network alone decides";
  } else {
    table["advisor"] = vehicles.advisor;
    table["advice"] = fmt::format(
        "The files contain only the network. Its input `advised` is the command that the script "
        "{} gives the vehicle now, or `none`. The command that the network chooses replaces the "
        "script's. Until the next decision the script goes on commanding vehicles for which the "
        "network chose as the script did.",
        vehicles.advisor);
  }
  table["candidates"] = {{"zone_m", config.env.zone_m},
                         {"lead_only", config.env.lead_only},
                         {"behind", config.env.behind},
                         {"help",
                          "connected vehicles that are under no command and at most zone_m "
                          "before the stop line of their next conflict"}};
  if (memory != nullptr) {
    table["memory"] = {
        {"torchscript", "vehicle_memory.pt"},
        {"onnx", "vehicle_memory.onnx"},
        {"frame_s", 1.0},
        {"layers", config.model.lstm_layers},
        {"width", config.model.lstm_hidden},
        {"inputs", ports_of(memory->inputs())},
        {"outputs", ports_of(memory->outputs())},
        {"help",
         "Run it for the state after every second of a control period, also for the state in which "
         "the policy decides. hidden and cell are next_hidden and next_cell of the same vehicles a "
         "second before, and 0 for vehicles that have just appeared. The last `width` columns of "
         "next_hidden are the input `memory` of the policy's network"}};
  }
  ordered_json inputs = ports_of(network.inputs());
  describe(inputs, "memory", "what is remembered of each connected vehicle; see `memory` above");
  describe(inputs, "place", "index of each candidate among the connected vehicles");
  describe(inputs, "vehicles", "features of each vehicle in physical units",
           columns_of(scene::node_features()));
  describe(inputs, "candidates", "indices of the vehicles that may get a command");
  describe(inputs, "globals", "features of the whole road in physical units",
           columns_of(scene::global_features()));
  describe(inputs, "advised", "for each candidate the index of the advised command in `commands`");
  describe(inputs, "connected", "indices of the connected vehicles");
  describe_pairs(inputs, "vehicles", columns_of(scene::edge_features()));
  table["inputs"] = std::move(inputs);
  ordered_json outputs = ports_of(network.outputs());
  describe(outputs, "score",
           "the candidates with the highest scores get commands, at most max_commanded minus the "
           "number of vehicles that are under command");
  describe(outputs, "lane", "logits of changing right, keeping the lane, changing left");
  if (vehicles.longitudinal == "categorical") {
    describe(outputs, "command", "logits of the commands, in the order of `commands`");
    table["commands"] = commands_of_table(config);
  } else {
    const bool speed = vehicles.longitudinal == "target_speed";
    describe(outputs, "command",
             "z; the command is low + (high - low) * (1 + tanh(z)) / 2. Sampled decisions add "
             "exp(log_std) times a standard normal number to z");
    table["continuous"] = {{"longitudinal", vehicles.longitudinal},
                           {"unit", speed ? "speed_limit_mps of the vehicle" : "m/s2"},
                           {"low", speed ? 0.0 : config.env.min_accel_mps2},
                           {"high", speed ? 1.0 : config.env.max_accel_mps2},
                           {"log_std", short_number(log_std)},
                           {"hold_s", config.env.control_period_s}};
  }
  table["outputs"] = std::move(outputs);
  return table;
}

ordered_json light_table(const config::Config& config, const PlainNetwork& network, Decides decides,
                         const LightKind& kind) {
  ordered_json table = {
      {"torchscript", "lights.pt"},
      {"onnx", "lights.onnx"},
      {"network",
       fmt::format("a network over the options of each light, with {} layers of attention over "
                   "neighbouring lights; the same for all lights",
                   kind.encoder_layers)},
      {"decides", to_string(decides)},
      {"control_period_s", config.env.control_period_s},
      {"keeps_programs", kind.keeps_programs},
      {"advisor", config.lights.advisor}};
  if (kind.keeps_programs) {
    const bool by_program = config.lights.advisor == config::kOwnPrograms;
    table["advice"] = fmt::format(
        "A light keeps the order of its program. Option 0 keeps the present phase until the next "
        "decision, option 1 ends it before. The feature `advised` is 1 for the option that {} "
        "takes. If the phase would end before the next decision, option 0 sets its remaining time "
        "to control_period_s. Option 1 sets it to 0{}. The phase must stay within the minimum and "
        "maximum durations of the program; if they are fixed, a green of at least 10 s may become "
        "longer or shorter by the share limits.phase_range.",
        by_program ? "the program" : fmt::format("the script {}", config.lights.advisor),
        by_program ? ", but not if the phase would end before the next decision anyway" : "");
  } else {
    table["advice"] =
        "none: the network alone decides. The options are the greens of the light's program. A "
        "change to another green needs yellow and, if yellow_s and all_red_s say so, red between "
        "them; the network does not insert them.";
  }
  table["limits"] = {{"yellow_s", config.env.yellow_s},
                     {"all_red_s", config.env.all_red_s},
                     {"min_green_s", config.env.min_green_s},
                     {"max_green_s", config.env.max_green_s},
                     {"phase_range", config.env.phase_range}};
  ordered_json inputs = ports_of(network.inputs());
  describe(inputs, "options",
           "features of each option in physical units. The network sees min(value, cap) / scale, "
           "or log(1 + min(value, cap)) / scale if the feature is logarithmic",
           columns_of(scene::signal_feature_specs()));
  describe(inputs, "light", "index of the light that each option belongs to");
  describe(inputs, "lights", "number of lights");
  describe_pairs(inputs, "lights", columns_of(scene::signal_edge_feature_specs()));
  table["inputs"] = std::move(inputs);
  ordered_json outputs = ports_of(network.outputs());
  describe(outputs, "probability",
           "probability of each option among those of its light; greedy decisions take the first "
           "option with the highest one");
  table["outputs"] = std::move(outputs);
  return table;
}

}  // namespace traffic::train
