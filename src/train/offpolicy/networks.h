/// The networks of a learner. Each has an optimiser, and a target network that follows it slowly
/// and makes learning stable.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "optim/slice_optimiser.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/communicator.h"
#include "traffic/comm/flat_arena.h"

namespace traffic::train::offpolicy {

/// A network and its target, of the same structure, on the learner's device.
struct TrainedNetwork {
  std::string name;  ///< such as "critic"
  std::shared_ptr<torch::nn::Module> online;
  std::shared_ptr<torch::nn::Module> target;
  std::string learning_rate_key;  ///< configuration key of its learning rate, for messages
};

/// All networks of a learner, whose parameters lie in one block of memory.
class Networks {
 public:
  /// Collective. Sets the targets equal to the networks.
  Networks(const std::vector<TrainedNetwork>& networks, comm::Communicator& communicator);

  [[nodiscard]] const comm::ParameterArena& parameters() const { return *parameters_; }

  /// Collective. Makes an optimiser step on all networks, with the gradients summed over all ranks.
  /// @param learning_rates one for each network, in their order
  /// @param backward computes this rank's gradients
  /// @return the norm of each network's gradient before clipping; 0 where it was not finite
  std::vector<double> step(const std::vector<double>& learning_rates, double clip_norm,
                           const std::function<void()>& backward);
  /// Moves the targets towards the networks by the share tau; 1 makes them equal.
  void update_targets(double tau);

  /// Number of steps skipped because of gradients that were not finite, summed over the networks.
  [[nodiscard]] std::int64_t skipped_steps() const;
  /// Saves the networks as "model/<network>..." and the state that save_learning_to() saves.
  void save_to(checkpoint::Snapshot& snapshot) const;
  /// @throws CheckpointError if a part is missing or has another shape
  void restore_from(const checkpoint::Snapshot& snapshot);
  /// Saves the targets and optimisers: "target/<network>..." and "optimizer/<network>/...".
  void save_learning_to(checkpoint::Snapshot& snapshot) const;
  /// @throws CheckpointError if a part is missing or has another shape
  void restore_learning_from(const checkpoint::Snapshot& snapshot);

 private:
  std::vector<std::string> names_;
  std::unique_ptr<comm::ParameterArena> parameters_;
  std::unique_ptr<comm::ParameterArena> target_parameters_;
  std::unique_ptr<comm::GradientArena> gradients_;
  std::vector<SliceOptimiser> optimisers_;
};

}  // namespace traffic::train::offpolicy
