// Exports the policies of a checkpoint, and records states to check the export with.
#include "traffic/train/export/policy_export.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "export/networks.h"
#include "export/policy_table.h"
#include "export/state_recorder.h"
#include "policy/decides.h"
#include "policy/fit.h"
#include "policy/perception.h"
#include "policy/policy.h"
#include "policy/policy_controller.h"
#include "run/folder_choice.h"
#include "run/snapshot_parts.h"
#include "traffic/checkpoint/file.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/core/version.h"
#include "traffic/model/memory.h"
#include "traffic/sim/controller_driver.h"
#include "traffic/sim/env_options.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::train {
namespace {

using nlohmann::ordered_json;

void write_network(const PlainNetwork& network, const std::filesystem::path& stem) {
  write_file_atomically(stem.string() + ".pt", network.to_torchscript());
  write_file_atomically(stem.string() + ".onnx", to_onnx(network, std::string(version())));
}

/// Writes the files of the vehicles' policy. @return its entry in policy.json
ordered_json export_vehicles(const checkpoint::Snapshot& snapshot, const config::Config& config,
                             const std::filesystem::path& folder) {
  Perception perception(config, 1, torch::kCPU);
  load_perception(snapshot, config, perception);
  Policy policy(config, perception.widths(), torch::kCPU);
  copy_parameters(snapshot, policy.parameters());
  comm::NamedTensors parameters = policy.parameters();
  const comm::NamedTensors seeing = perception.parameters();
  parameters.insert(parameters.end(), seeing.begin(), seeing.end());
  const PlainNetwork network = vehicle_network(config, parameters, advice_margin_in(snapshot));
  write_network(network, folder / "vehicles");
  std::optional<PlainNetwork> memory;
  if (InputGroups(config.vehicles.inputs).latents) {
    memory = memory_network(config, parameters);
    write_network(*memory, folder / "vehicle_memory");
  }
  float log_std = 0.0F;
  for (const auto& [name, value] : parameters) {
    if (name == "controller.log_std") log_std = value.item<float>();
  }
  return vehicle_table(config, network, memory ? &*memory : nullptr, decides_in(snapshot), log_std);
}

ordered_json export_lights(const checkpoint::Snapshot& snapshot, const config::Config& config,
                           Decides decides, const std::filesystem::path& folder) {
  LightPolicy policy(light_kind_in(snapshot), 0);
  copy_parameters(snapshot, policy.parameters());
  const PlainNetwork network = light_network(policy);
  write_network(network, folder / "lights");
  return light_table(config, network, decides, policy.kind());
}

}  // namespace

void export_policies(const std::filesystem::path& checkpoint, const std::filesystem::path& folder) {
  const checkpoint::Snapshot snapshot = checkpoint::load(checkpoint);
  const bool has_vehicles = snapshot.contains("policy_hash");
  const bool has_lights = has_light_policy(snapshot);
  const config::TrainingFacts& training = training_of(snapshot);
  if (!has_vehicles && !has_lights) {
    throw CheckpointError(
        "checkpoint {}: it holds no policy of vehicles or traffic lights, because it belongs to "
        "the training {}; expected a checkpoint of the training ppo, ppo_constrained or dqn",
        snapshot.source(), training.name);
  }
  const config::Config config = stored_config(snapshot);
  create_folder(folder);
  for (const char* earlier :
       {"policy.json", "states.jsonl", "vehicles.pt", "vehicles.onnx", "vehicle_memory.pt",
        "vehicle_memory.onnx", "lights.pt", "lights.onnx"}) {
    std::filesystem::remove(folder / earlier);  // of an export of another checkpoint
  }
  ordered_json table = {{"format", "traffic_policy"},
                        {"format_version", 1},
                        {"made_by", fmt::format("traffic_train {}", version())},
                        {"checkpoint", checkpoint.filename().string()},
                        {"training", training.name},
                        {"step", snapshot.step()}};
  if (has_vehicles) table["vehicles"] = export_vehicles(snapshot, config, folder);
  // Beside vehicles, the lights decide greedily (make_policy_controller).
  const Decides decides = has_vehicles ? Decides::kGreedy : decides_in(snapshot);
  if (has_lights) table["lights"] = export_lights(snapshot, config, decides, folder);
  // The table is written last, so that the folder never contains a table without its networks.
  write_file_atomically(folder / "policy.json", table.dump(2) + "\n");
}

RecordedStates record_states(const StateRecording& recording) {
  model::pool_all_tensors();
  sim::EnvOptions options = sim::env_options(recording.config.env);
  options.seed = recording.seed;
  sim::SumoEnv env(options);
  StateRecorder recorder(recording.folder, env, recording.states,
                         settings_of_checkpoint(recording.checkpoint).config);
  const auto controller = make_policy_controller(
      {.path = recording.checkpoint, .decides = Decides::kGreedy}, &recorder);
  sim::ControllerDriver driver;
  driver.begin(controller.get(), env, recording.seed);
  while (!env.done() && !recorder.is_full()) {
    driver.act(env);
    env.step();
  }
  if (recorder.result().states == 0) {
    throw DataError(
        "scenario {}: the controller decided nothing within {:.0f} s, so no state was recorded; "
        "does the scenario have connected vehicles (--set env.cv_share=0.4) or traffic lights?",
        recording.config.env.scenario, env.time_s());
  }
  write_file_atomically(recording.folder / "states.jsonl", recorder.lines());
  if (!(recorder.result().largest_difference <= kExportTolerance)) {
    throw NumericError(
        "the exported networks differ from this program by {:.2g} in {} states, expected at most "
        "{:.0e}; please report this with the checkpoint {}",
        recorder.result().largest_difference, recorder.result().states, kExportTolerance,
        recording.checkpoint.string());
  }
  return recorder.result();
}

}  // namespace traffic::train
