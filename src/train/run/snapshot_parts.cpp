#include "run/snapshot_parts.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <span>
#include <variant>

#include "traffic/config/write.h"
#include "traffic/core/error.h"
#include "traffic/core/hash.h"

namespace traffic::train {

void put_parameters(checkpoint::Snapshot& snapshot, const comm::NamedTensors& parameters) {
  for (const auto& [name, parameter] : parameters) {
    snapshot.put_tensor("model/" + name, parameter.detach());
  }
}

void copy_parameters(const checkpoint::Snapshot& snapshot, const comm::NamedTensors& parameters) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, parameter] : parameters) {
    snapshot.copy_tensor("model/" + name, parameter);
  }
}

namespace {

void put_value(checkpoint::Snapshot& snapshot, const std::string& name,
               const checkpoint::Value& value) {
  if (const auto* tensor = std::get_if<at::Tensor>(&value)) {
    snapshot.put_tensor(name, *tensor);
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    snapshot.put_int(name, *integer);
  } else if (const auto* real = std::get_if<double>(&value)) {
    snapshot.put_real(name, *real);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    snapshot.put_text(name, *text);
  } else {
    snapshot.put_bytes(name, std::get<checkpoint::Bytes>(value));
  }
}

}  // namespace

void put_group(checkpoint::Snapshot& snapshot, const std::string& group,
               const checkpoint::Snapshot& values) {
  for (const auto& [name, value] : values.values()) put_value(snapshot, group + "/" + name, value);
}

std::optional<checkpoint::Snapshot> group_in(const checkpoint::Snapshot& snapshot,
                                             const std::string& group) {
  const std::string prefix = group + "/";
  checkpoint::Snapshot values(snapshot.step());
  values.set_source(snapshot.source());
  for (const std::string& name : snapshot.names(prefix)) {
    put_value(values, name.substr(prefix.size()), snapshot.values().at(name));
  }
  if (values.values().empty()) return std::nullopt;
  return values;
}

std::string parameters_hash(const comm::ParameterArena& parameters) {
  const at::Tensor flat = parameters.flat().to(at::kCPU);
  return hex64(xxh3_64(std::as_bytes(
      std::span(flat.const_data_ptr<float>(), static_cast<std::size_t>(flat.numel())))));
}

config::Config stored_config(const checkpoint::Snapshot& snapshot,
                             const config::Overrides& overrides) {
  return config::parse_stored_config(snapshot.text("config"), snapshot.source(), overrides);
}

std::vector<std::string> unknown_settings(const checkpoint::Snapshot& snapshot) {
  return config::unknown_keys(snapshot.text("config"));
}

void warn_of_unknown_settings(const checkpoint::Snapshot& snapshot) {
  const std::vector<std::string> unknown = unknown_settings(snapshot);
  if (unknown.empty()) return;
  spdlog::warn("checkpoint {}: made with settings that this version does not know: {}",
               snapshot.source(), fmt::join(unknown, ", "));
}

void put_training(checkpoint::Snapshot& snapshot, const config::TrainingFacts& facts) {
  snapshot.put_text("training", std::string(facts.name));
}

const config::TrainingFacts& training_of(const checkpoint::Snapshot& snapshot) {
  const std::string name = snapshot.contains("training")
                               ? snapshot.text("training")
                               : std::to_string(snapshot.integer("phase"));
  const config::TrainingFacts* training = config::find_training(name);
  if (training != nullptr) return *training;
  throw CheckpointError(
      "checkpoint {}: it belongs to training '{}', which this program does not know",
      snapshot.source(), name);
}

void check_training(const checkpoint::Snapshot& snapshot, const config::TrainingFacts& facts) {
  const config::TrainingFacts& found = training_of(snapshot);
  if (found.name == facts.name) return;
  throw CheckpointError(
      "checkpoint {}: it belongs to {} ({}), but this run trains {} ({}); resume with the "
      "configuration that it was made with (entry 'config' of the checkpoint), or start a new run "
      "with --resume never in another --run-dir",
      snapshot.source(), found.title(), found.name, facts.title(), facts.name);
}

std::string model_hash_text(const config::Config& config) {
  return hex64(config::model_hash(config));
}

bool has_equal_hash(const checkpoint::Snapshot& snapshot, const std::string& entry,
                    const config::Config& config, std::string (*hash)(const config::Config&)) {
  const std::string expected = hash(config);
  return snapshot.text(entry) == expected || hash(stored_config(snapshot)) == expected;
}

std::string differing_settings(const checkpoint::Snapshot& snapshot, const config::Config& config,
                               const std::function<bool(std::string_view key)>& concerns) {
  const auto own = config::flatten(config);
  std::vector<std::string> differing;
  for (const auto& [key, value] : config::flatten(stored_config(snapshot))) {
    if (!concerns(key) || own.at(key) == value) continue;
    differing.push_back(fmt::format("{} = {}, this run has {}", key, value, own.at(key)));
  }
  return fmt::format("{}", fmt::join(differing, "; "));
}

bool is_of_model(std::string_view key) { return key.starts_with("model."); }

}  // namespace traffic::train
