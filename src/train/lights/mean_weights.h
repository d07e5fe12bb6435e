/// The running mean of the weights of the policy of traffic lights. In evaluations, the policy acts
/// with this mean.
#pragma once

#include <torch/utils.h>

#include <cstdint>

#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/flat_arena.h"

namespace traffic::train::lights {

/// Replaces the weights of a network by other weights. The destructor restores the previous
/// weights.
class WeightsInUse {
 public:
  /// @param flat weights of the network
  /// @param others the weights that the network gets
  WeightsInUse(torch::Tensor flat, const torch::Tensor& others);
  ~WeightsInUse() { flat_.copy_(kept_); }
  WeightsInUse(const WeightsInUse&) = delete;
  WeightsInUse& operator=(const WeightsInUse&) = delete;

 private:
  torch::NoGradGuard no_grad_;
  torch::Tensor flat_;
  torch::Tensor kept_;
};

/// The running mean of a network's weights over about ten iterations (Polyak and Juditsky 1992).
/// Evaluations and checkpoints use the mean, because in one iteration the noise of the updates
/// moves the weights further than learning does.
class MeanWeights {
 public:
  /// @param learned weights that the optimiser changes; must outlive this object
  explicit MeanWeights(const comm::ParameterArena& learned);

  /// Adds the current weights to the mean. Call it at the end of each iteration.
  void add(std::int64_t iteration);
  /// Gives the network the mean weights until the returned object is destroyed.
  [[nodiscard]] WeightsInUse use() const { return {learned_.flat(), mean_}; }

  /// Sets both the weights and the mean to the mean in a checkpoint.
  /// @throws CheckpointError if a part is missing or does not fit
  void start_from(const checkpoint::Snapshot& snapshot);
  /// Restores the weights and the mean.
  /// @throws CheckpointError if a part is missing or does not fit
  void restore_from(const checkpoint::Snapshot& snapshot);
  /// Saves the mean under the names of the policy's weights, and the weights in a separate entry.
  void save_to(checkpoint::Snapshot& snapshot) const;

 private:
  const comm::ParameterArena& learned_;
  torch::Tensor mean_;  ///< [P]
};

}  // namespace traffic::train::lights
