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
        "checkpoint {}: its encoder and world model were made with {}; use the [model] table "
        "of the configuration in the checkpoint (entry 'config')",
        snapshot.source(), differing_settings(snapshot, config, is_of_model));
  }
  copy_parameters(snapshot, parameters);
}

namespace {

/// Whether the controller reads encodings. Otherwise it has no encoder and no world model.
bool has_model(const config::Config& config) {
  return InputGroups(config.vehicles.inputs).any_encoding();
}

/// Whether the parameters fit only configurations with an equal value of this key.
bool is_of_policy(std::string_view key, bool with_model) {
  return key.starts_with("vehicles.") || key == "episodes.credit" ||
         (with_model && is_of_model(key));
}

}  // namespace

std::string policy_hash(const config::Config& config) {
  const bool with_model = has_model(config);
  std::string text;
  for (const auto& [key, value] : config::flatten(config)) {
    if (is_of_policy(key, with_model)) text += key + "=" + value + "\n";
  }
  return hex64(xxh3_64(text));
}

void check_policy_fits(const checkpoint::Snapshot& snapshot, const config::Config& config) {
  if (has_equal_hash(snapshot, "policy_hash", config, policy_hash)) return;
  const auto concerns = [with_model = has_model(config)](std::string_view key) {
    return is_of_policy(key, with_model);
  };
  throw CheckpointError(
      "checkpoint {}: its controller was trained with {}; set the checkpoint's values, or train a "
      "new controller: with --resume never and another --run-dir, and with a run.init_from that "
      "does not name this checkpoint",
      snapshot.source(), differing_settings(snapshot, config, concerns));
}

}  // namespace traffic::train
