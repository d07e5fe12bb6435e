/// Runs Adam on a slice of the flat tensor that contains all parameters (arena): sums the gradient
/// over ranks, then updates the parameters.
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

#include "optim/adam.h"
#include "optim/skipped_steps.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/communicator.h"

namespace traffic::train {

/// Parameters that are contiguous in an arena, and their gradients.
struct ParameterSlice {
  std::string name;               ///< for messages
  std::string learning_rate_key;  ///< configuration key, for messages
  torch::Tensor parameters;       ///< [P] flat, changed in place
  torch::Tensor gradients;        ///< [P] gradients of this rank
  double weight_decay = 0.0;
};

/// The optimiser of a part of a model. Parts without common parameters, such as policy and value,
/// have separate optimisers. If one Adam updated both, an update that fits only the value would
/// also move the policy by its momentum, possibly further than ppo.target_kl allows.
class SliceOptimiser {
 public:
  SliceOptimiser(ParameterSlice slice, comm::Communicator& communicator);

  /// Collective. Sums the gradient over ranks.
  /// @return the norm of the summed gradient. If it is not finite, nothing; all ranks must then
  ///   skip the step.
  /// @throws NumericError after too many skipped steps in a row
  std::optional<double> reduce();
  /// Makes one update of Adam.
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
