#include "policy/fit.h"

#include <fmt/ranges.h>

#include <map>
#include <vector>

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

namespace {

/// What must be equal for parameters to fit, by key.
std::map<std::string, std::string> policy_settings(const config::Config& config) {
  // Of a controller that reads no encodings the model is no part.
  const bool has_model = InputGroups(config.controller.inputs).any_encoding();
  std::map<std::string, std::string> settings = config::flatten(config);
  std::erase_if(settings, [&](const auto& setting) {
    const std::string& key = setting.first;
    return !(key.starts_with("controller.") || key.starts_with("action.") || key == "ppo.credit" ||
             (has_model && key.starts_with("model.")));
  });
  return settings;
}

/// @return "key = value, this run has value" of each setting that differs
std::string differences(const config::Config& found, const config::Config& expected) {
  const auto of_run = policy_settings(expected);
  const auto of_checkpoint = policy_settings(found);
  std::vector<std::string> different;
  for (const auto& [key, value] : of_checkpoint) {
    const auto own = of_run.find(key);
    if (own == of_run.end() || own->second == value) continue;
    different.push_back(fmt::format("{} = {}, this run has {}", key, value, own->second));
  }
  return fmt::format("{}", fmt::join(different, "; "));
}

}  // namespace

std::string policy_hash(const config::Config& config) {
  std::string text;
  for (const auto& [key, value] : policy_settings(config)) text += key + "=" + value + "\n";
  return hex64(xxh3_64(text));
}

void check_policy_fits(const checkpoint::Snapshot& snapshot, const config::Config& config) {
  if (has_equal_hash(snapshot, "policy_hash", config, policy_hash)) return;
  throw CheckpointError(
      "checkpoint {}: its controller was made with {}; give this run the same, or start anew: "
      "--resume never in another --run-dir, run.init_from without it",
      snapshot.source(), differences(stored_config(snapshot), config));
}

}  // namespace traffic::train
