#pragma once

#include <torch/utils.h>

#include <cstdint>

#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/flat_arena.h"

namespace traffic::train::lights {

/// Replaces the weights of a network. The destructor restores those that it learns with.
class WeightsInUse {
 public:
  /// @param flat the weights that it learns with
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
/// Evaluations, checkpoints and users of the policy get it, because the weights themselves move
/// further in an iteration than what they learn in it.
class MeanWeights {
 public:
  /// @param learned what it learns with; outlives this
  explicit MeanWeights(const comm::ParameterArena& learned);

  /// After an iteration.
  void add(std::int64_t iteration);
  /// The network with the mean, until the end of what is returned.
  [[nodiscard]] WeightsInUse use() const { return {learned_.flat(), mean_}; }

  /// Loads the mean of a checkpoint, and learns on from it.
  /// @throws CheckpointError if a part is missing or does not fit
  void start_from(const checkpoint::Snapshot& snapshot);
  void restore_from(const checkpoint::Snapshot& snapshot);
  /// Saves the mean under the names of the policy's weights, and the learning weights beside it.
  void save_to(checkpoint::Snapshot& snapshot) const;

 private:
  const comm::ParameterArena& learned_;
  torch::Tensor mean_;  ///< [P]
};

}  // namespace traffic::train::lights
