#include "policy/fit.h"

#include "run/snapshot_parts.h"
#include "traffic/config/write.h"
#include "traffic/core/error.h"
#include "traffic/core/hash.h"
#include "traffic/model/controller.h"

namespace traffic::train {

void load_perception(const checkpoint::Snapshot& snapshot, const config::Config& config,
                     Perception& perception) {
  const auto parameters = perception.parameters();
  if (parameters.empty()) return;
  if (!has_equal_hash(snapshot, "model_hash", config, model_hash_text)) {
    throw CheckpointError(
        "checkpoint {}: the hash of the [model] table is {}, this run has {}; give this run the "
        "[model] table that the checkpoint was made with (the entry 'config' in it)",
        snapshot.source(), snapshot.text("model_hash"), model_hash_text(config));
  }
  copy_parameters(snapshot, parameters);
}

std::string policy_hash(const config::Config& config) {
  // Of a controller that reads no encodings the model is no part.
  const bool has_model = InputGroups(config.controller.inputs).any_encoding();
  std::string text;
  for (const auto& [key, value] : config::flatten(config)) {
    if (key.starts_with("controller.") || key.starts_with("action.") || key == "ppo.credit" ||
        (has_model && key.starts_with("model."))) {
      text += key + "=" + value + "\n";
    }
  }
  return hex64(xxh3_64(text));
}

namespace {

[[noreturn]] void refuse(const checkpoint::Snapshot& snapshot, const char* what,
                         const std::string& found, const std::string& expected) {
  throw CheckpointError(
      "checkpoint {}: {} is {}, this run has {}; go on with the configuration it was made with "
      "(the entry 'config' in it), or start anew with --resume never in another --run-dir",
      snapshot.source(), what, found, expected);
}

}  // namespace

void check_policy_fits(const checkpoint::Snapshot& snapshot, const config::Config& config) {
  if (!has_equal_hash(snapshot, "policy_hash", config, policy_hash)) {
    refuse(snapshot, "the hash of [model], [controller], [action] and ppo.credit",
           snapshot.text("policy_hash"), policy_hash(config));
  }
}

}  // namespace traffic::train
