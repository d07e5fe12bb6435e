#include "weights_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "run/folder_choice.h"
#include "traffic/checkpoint/file.h"
#include "traffic/checkpoint/safetensors.h"
#include "traffic/config/scenario_mix.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/version.h"
#include "traffic/scene/frame.h"
#include "traffic/scene/signal_view.h"

namespace traffic::train {
namespace {

using nlohmann::ordered_json;

constexpr const char* kWeightsFile = "model.safetensors";
constexpr std::string_view kParameterPrefix = "model/";

std::filesystem::path weights_dir(const TrainingTask& task) { return task.dir / "weights"; }

checkpoint::NamedTensors parameters_in(const checkpoint::Snapshot& snapshot) {
  checkpoint::NamedTensors tensors;
  for (const std::string& name : snapshot.names(kParameterPrefix)) {
    tensors.emplace_back(name.substr(kParameterPrefix.size()), snapshot.tensor(name));
  }
  return tensors;
}

std::int64_t count_of(const checkpoint::NamedTensors& tensors) {
  std::int64_t count = 0;
  for (const auto& [name, tensor] : tensors) count += tensor.numel();
  return count;
}

std::string scenarios_of(const config::Env& env) {
  std::string text;
  for (const config::ScenarioShare& part : config::scenario_mix(env)) {
    text += (text.empty() ? "" : ", ") + part.scenario;
  }
  return text;
}

const char* steps_of(const config::TrainingFacts& facts) {
  if (!facts.of_traffic) return "steps";
  return facts.simulates ? "iterations" : "optimiser steps";
}

/// Facts for the model card: the program, data, seed and settings of the training.
checkpoint::TextMap facts_of(const TrainingTask& task, const checkpoint::Snapshot& snapshot,
                             std::int64_t parameters, const ordered_json& summary) {
  const config::Config& config = task.config;
  checkpoint::TextMap facts = {
      {"made by", fmt::format("traffic_train {}", version())},
      {"training", std::string(task.facts->name)},
      {"parameters", std::to_string(parameters)},
      {steps_of(*task.facts), std::to_string(snapshot.step())},
      {"seed", std::to_string(config.run.seed)},
      {"ranks", std::to_string(summary.value("world_size", std::int64_t{1}))}};
  if (!task.facts->of_traffic) return facts;
  if (!task.facts->simulates) {
    facts["trained on recorded traffic"] = fmt::format("{}", fmt::join(config.data.files, ", "));
  } else {
    facts["trained on simulated traffic"] = scenarios_of(config.env);
    facts["agents"] = fmt::format("{}", fmt::join(config.env.agents, ", "));
    if (config.env.vehicles_act()) {
      facts["inputs of the controller"] =
          fmt::format("{}", fmt::join(config.vehicles.inputs, ", "));
      facts["commands"] = fmt::format("{}", fmt::join(config.vehicles.commands, ", "));
    }
    facts["seconds between decisions"] = fmt::format("{}", config.env.control_period_s);
    if (snapshot.contains("decides")) facts["decides"] = snapshot.text("decides");
  }
  return facts;
}

/// Sentences for the model card that say what the weights were not tested for.
/// @param result object `result` of the phase's summary.json
std::vector<std::string> limits_of(const TrainingTask& task, const ordered_json& result) {
  if (!task.facts->of_traffic) return {};
  std::vector<std::string> limits = {
      "It was trained on recorded traffic or in SUMO; what it does on real roads is not known."};
  if (!task.facts->simulates) return limits;
  limits.push_back(
      fmt::format("It was trained in {}; how well it does elsewhere, or with other demand, was not "
                  "measured in this run.",
                  scenarios_of(task.config.env)));
  if (task.config.env.vehicles_act()) {
    limits.emplace_back(
        "traffic_train checks every command before a vehicle gets it (the shield); these checks "
        "are not part of the weights.");
  }
  const std::string kept = result.value("kept", "");
  if (kept.starts_with("script ")) {
    limits.push_back(fmt::format(
        "On the seeds of the final comparison, the {} from which the training began gains more "
        "than these weights: use traffic_eval --controller {}.",
        kept, result.value("controller", "")));
  }
  return limits;
}

/// A table with name, unit and normalisation of each feature.
std::string input_table(const char* title, std::span<const scene::FeatureSpec> features) {
  std::string text = fmt::format(
      "{}:\n\n| name | unit | offset | scale | |\n| --- | --- | --- | --- | --- |\n", title);
  for (const scene::FeatureSpec& feature : features) {
    text += fmt::format("| {} | {} | {} | {} | {} |\n", feature.name, feature.unit, feature.offset,
                        feature.scale, feature.help);
  }
  return text + "\n";
}

/// Lists the inputs of the neural network: features of vehicles, of roads and of traffic lights.
std::string inputs_section(const TrainingTask& task) {
  if (!task.facts->of_traffic) return "";
  const config::Env& env = task.config.env;
  std::string text = "## Inputs\n\n";
  if (!task.facts->simulates || env.vehicles_act()) {
    text += "Features in the order of their columns; the model sees (value - offset) / scale.\n\n" +
            input_table("Of a vehicle", scene::node_features()) +
            input_table("Of a pair of vehicles", scene::edge_features()) +
            input_table("Of the road", scene::global_features());
  }
  if (task.facts->simulates && env.lights_act()) {
    text += fmt::format(
        "Features of a green of a traffic light, in the order of their columns: {}.\n\n",
        fmt::join(scene::signal_features(), ", "));
  }
  return text;
}

/// A table with a row for each controller: its gain over no control on the same seeds, and metrics
/// of safety.
std::string evaluation_section(const TrainingTask& task, const ordered_json& rows) {
  if (!rows.is_array() || rows.empty()) return "";
  constexpr const char* kColumns[] = {"gain_%",  "+-95%",           "worst_%",    "ocr_all",
                                      "delay_s", "emergency_stops", "collisions", "hard_brakes"};
  std::string text = fmt::format(
      "## Comparison with other controllers\n\nMeans over the seeds {}, on which these weights "
      "were "
      "not trained.\n\n"
      "| controller |",
      task.config.evaluation.seeds);
  std::string line = "\n| --- |";
  for (const char* column : kColumns) {
    text += fmt::format(" {} |", column);
    line += " --- |";
  }
  text += line + "\n";
  for (const ordered_json& row : rows) {
    std::string name = row.value("controller", "");
    if (name.starts_with("checkpoint:")) name = "these weights";
    if (row.contains("scenario")) name += " on " + row.value("scenario", "");
    text += fmt::format("| {} |", name);
    for (const char* column : kColumns) {
      const bool known = row.contains(column) && row[column].is_number();
      text += known ? fmt::format(" {:.4g} |", row[column].get<double>()) : " |";
    }
    text += "\n";
  }
  return text + "\n";
}

}  // namespace

bool has_weights(const TrainingTask& task) {
  return std::filesystem::exists(weights_dir(task) / kWeightsFile);
}

void export_weights(const TrainingTask& task) {
  const checkpoint::Snapshot snapshot = checkpoint::load(task.result());
  const checkpoint::NamedTensors tensors = parameters_in(snapshot);
  const ordered_json summary = read_summary(task);
  const ordered_json result = summary.value("result", ordered_json::object());

  checkpoint::ModelCard card;
  card.title = fmt::format("{} of the run '{}', {}", task.facts->product, task.config.run.name,
                           task.facts->title());
  card.summary = task.facts->about;
  card.weights_file = kWeightsFile;
  card.tags = {"reinforcement-learning"};
  if (task.facts->of_traffic) card.tags.insert(card.tags.end(), {"traffic-control", "sumo"});
  card.facts = facts_of(task, snapshot, count_of(tensors), summary);
  for (const auto& [name, value] : result.items()) {
    if (value.is_number()) card.results[name] = value.get<double>();
  }
  card.limits = limits_of(task, result);
  card.sections =
      evaluation_section(task, result.value("evaluation", ordered_json())) + inputs_section(task);
  card.config_toml = snapshot.text("config");

  create_folder(weights_dir(task));
  remove_stale_temporaries(weights_dir(task));
  checkpoint::write_model_card(weights_dir(task) / "README.md", card);
  // The weights are written last, so that the folder never contains weights without their card.
  checkpoint::export_safetensors(weights_dir(task) / kWeightsFile, tensors,
                                 {{"format", "pt"},
                                  {"made_by", fmt::format("traffic_train {}", version())},
                                  {"training", std::string(task.facts->name)},
                                  {"step", std::to_string(snapshot.step())}});
}

}  // namespace traffic::train
