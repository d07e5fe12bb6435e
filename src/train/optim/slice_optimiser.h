/// Adam on a slice of a parameter arena: sums the gradient over ranks, then steps.
///
///     #include "traffic/comm/gradient_reducer.h"
///
///     void update(SliceOptimiser& optimiser, torch::Tensor& gradients, const torch::Tensor& loss,
///                 double learning_rate, double clip_norm) {
///       gradients.zero_();
///       loss.backward();
///       if (const std::optional<double> norm = optimiser.reduce()) {
///         optimiser.step(learning_rate, comm::clip_factor(*norm, clip_norm));
///       }
///     }
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "optim/skipped_steps.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/communicator.h"
#include "traffic/train/optim/adam.h"

namespace traffic::train {

/// Parameters that are contiguous in an arena.
struct ParameterSlice {
  std::string name;  ///< for messages, like learning_rate_key
  std::string learning_rate_key;
  torch::Tensor parameters;  ///< [P] flat, changed in place
  torch::Tensor gradients;   ///< [P] gradients of this rank
  double weight_decay = 0.0;
};

/// Parts of a model that share no parameters each get an optimiser. With a joint Adam the momentum
/// of one part would keep moving it while only the other part is trained: the policy would drift
/// without data, and past ppo.target_kl, whenever the value was fitted.
class SliceOptimiser {
 public:
  SliceOptimiser(ParameterSlice slice, comm::Communicator& communicator);

  /// Sums the gradient over ranks. Collective.
  /// @return the norm of the summed gradient; nothing if it is not finite, then all ranks skip the
  ///   step
  /// @throws NumericError after too many skipped steps in a row
  /// One update of Adam.
  std::optional<double> reduce();
  /// @param factor multiplies the gradient, for clipping
  void step(double learning_rate, double factor);

  [[nodiscard]] const torch::Tensor& parameters() const { return slice_.parameters; }
  [[nodiscard]] std::int64_t num_steps() const { return adam_.num_steps(); }
  [[nodiscard]] std::int64_t skipped_steps() const { return skipped_.total; }

  void save_to(checkpoint::Snapshot& snapshot, const std::string& prefix) const;
  /// @throws CheckpointError if a part is missing or does not fit
  void restore_from(const checkpoint::Snapshot& snapshot, const std::string& prefix);

 private:
  ParameterSlice slice_;
  comm::Communicator& communicator_;
  Adam adam_;
  SkippedSteps skipped_;
};

}  // namespace traffic::train
