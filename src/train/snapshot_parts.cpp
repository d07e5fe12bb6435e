#include "snapshot_parts.h"

#include <spdlog/spdlog.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <span>

#include "traffic/config/write.h"
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

std::string parameters_hash(const comm::ParameterArena& parameters) {
  const at::Tensor flat = parameters.flat().to(at::kCPU);
  return hex64(xxh3_64(std::as_bytes(
      std::span(flat.const_data_ptr<float>(), static_cast<std::size_t>(flat.numel())))));
}

void put_adam(checkpoint::Snapshot& snapshot, const std::string& prefix, const Adam& adam) {
  snapshot.put_tensor(prefix + "/exp_avg", adam.exp_avg());
  snapshot.put_tensor(prefix + "/exp_avg_sq", adam.exp_avg_sq());
  snapshot.put_int(prefix + "/num_steps", adam.num_steps());
}

void restore_adam(const checkpoint::Snapshot& snapshot, const std::string& prefix, Adam& adam) {
  const at::IntArrayRef sizes = adam.exp_avg().sizes();
  adam.restore(snapshot.tensor(prefix + "/exp_avg", sizes, torch::kFloat),
               snapshot.tensor(prefix + "/exp_avg_sq", sizes, torch::kFloat),
               snapshot.integer(prefix + "/num_steps"));
}

void put_loss_scale(checkpoint::Snapshot& snapshot, const LossScaler& scaler) {
  snapshot.put_real("loss_scale/scale", scaler.state().scale);
  snapshot.put_int("loss_scale/good_in_a_row", scaler.state().good_in_a_row);
  snapshot.put_int("loss_scale/overflows_in_a_row", scaler.state().overflows_in_a_row);
  snapshot.put_int("loss_scale/overflows", scaler.state().overflows);
}

void restore_loss_scale(const checkpoint::Snapshot& snapshot, LossScaler& scaler) {
  if (!snapshot.contains("loss_scale/scale")) return;
  scaler.restore({.scale = snapshot.real("loss_scale/scale"),
                  .good_in_a_row = snapshot.integer("loss_scale/good_in_a_row"),
                  .overflows_in_a_row = snapshot.integer("loss_scale/overflows_in_a_row"),
                  .overflows = snapshot.integer("loss_scale/overflows")});
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

std::string model_hash_text(const config::Config& config) {
  return hex64(config::model_hash(config));
}

bool has_equal_hash(const checkpoint::Snapshot& snapshot, const std::string& entry,
                    const config::Config& config, std::string (*hash)(const config::Config&)) {
  const std::string expected = hash(config);
  return snapshot.text(entry) == expected || hash(stored_config(snapshot)) == expected;
}

}  // namespace traffic::train
