/// Adam on a stretch of a parameter arena: sums the gradient over ranks, clips it, steps.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>

#include "optim/skipped_steps.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/communicator.h"
#include "traffic/train/optim/adam.h"

namespace traffic::train {

/// Parts of a model that have no parameter in common each get one. With a joint Adam the momentum
/// of one part goes on moving it while only the other is trained: the policy drifted without data,
/// and past ppo.target_kl, whenever the value was fitted.
class StretchOptimiser {
 public:
  struct Stretch {
    std::string name;  ///< for messages, as is the key of its learning rate
    std::string learning_rate_key;
    torch::Tensor parameters;  ///< [P] flat, changed in place
    torch::Tensor gradients;   ///< [P] of this rank
  };
  StretchOptimiser(Stretch stretch, double clip_norm, comm::Communicator& communicator);

  /// Collective. All ranks skip a step whose gradient is not finite.
  /// @return norm before clipping; 0 for a skipped step
  /// @throws NumericError after too many skipped steps in a row
  double step(double learning_rate);

  [[nodiscard]] const torch::Tensor& parameters() const { return stretch_.parameters; }
  [[nodiscard]] std::int64_t num_steps() const { return adam_.num_steps(); }
  [[nodiscard]] std::int64_t skipped_steps() const { return skipped_.total; }

  void save_to(checkpoint::Snapshot& snapshot, const std::string& prefix) const;
  /// @throws CheckpointError if a part is missing or does not fit
  void restore_from(const checkpoint::Snapshot& snapshot, const std::string& prefix);

 private:
  Stretch stretch_;
  double clip_norm_;
  comm::Communicator& communicator_;
  Adam adam_;
  SkippedSteps skipped_;
};

}  // namespace traffic::train
