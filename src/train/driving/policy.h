/// A driving policy: a network that plans the way of a vehicle, and its parameters in one flat
/// tensor (arena). The trainer and the driver use it.
#pragma once

#include <torch/types.h>

#include <memory>
#include <string>

#include "driving/scene_batches.h"
#include "driving/settings.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/flat_arena.h"

namespace traffic::train::driving_policy {

/// The network, its settings and its device.
class Policy {
 public:
  /// Initial parameters depend on the seed alone.
  Policy(const Driving& settings, std::uint64_t seed, torch::Device device);

  [[nodiscard]] const Driving& settings() const { return settings_; }
  [[nodiscard]] model::DrivingNetwork& network() { return network_; }
  [[nodiscard]] const comm::ParameterArena& parameters() const { return *parameters_; }
  [[nodiscard]] torch::Device device() const { return device_; }

  /// Computes model::PlanStatistics from training examples: the scale of the differences to a
  /// straight plan, and the anchors, which are typical plans.
  void set_statistics(const torch::Tensor& plans, const torch::Tensor& speed_mps,
                      std::uint64_t seed);
  /// The mean loss of a batch on the policy's device.
  torch::Tensor loss(const DrivingBatch& batch);
  /// The most probable plans of each sample, without gradients.
  /// @param count maximum number of plans of a sample
  model::DrivingPlans plans(const DrivingBatch& batch, std::int64_t count);

  /// Saves the statistics as "driving/...", and structure_text(). The caller saves the parameters.
  void save_to(checkpoint::Snapshot& snapshot) const;
  /// Restores the statistics.
  /// @throws CheckpointError if the checkpoint's policy has another network or input
  void restore_statistics(const checkpoint::Snapshot& snapshot);

 private:
  Driving settings_;
  torch::Device device_;
  model::DrivingNetwork network_;
  std::unique_ptr<comm::ParameterArena> parameters_;
};

/// Describes the input and the network of a policy: "input all, raster small, status ...".
/// Checkpoints store this text and fit only a policy with the same text.
std::string structure_text(const Driving& settings);

}  // namespace traffic::train::driving_policy
