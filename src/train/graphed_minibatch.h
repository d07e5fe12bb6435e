/// Forward and backward of phase 2's minibatches as one recorded step.
#pragma once

#include <torch/types.h>

#include <memory>
#include <vector>

#include "graphed_step.h"
#include "padded_minibatch.h"
#include "phase2_policy.h"
#include "traffic/rl/ppo_loss.h"

namespace traffic::train {

/// The parameters and their gradients must stay where they are (comm/flat_arena.h).
class GraphedMinibatch {
 public:
  GraphedMinibatch(Policy& policy, const rl::PpoCoefficients& coefficients,
                   std::unique_ptr<Recorder> recorder);

  /// Makes room for these parts of the experience; recorded anew if there was too little.
  void reserve(const Experience& experience, const std::vector<torch::Tensor>& parts);

  /// Adds the gradients of the loss to those of the parameters.
  /// @return the sums of the loss, [rl::kNumPpoSums] float64 on the CPU
  torch::Tensor add_gradients(const PaddedMinibatch::Part& part);

  [[nodiscard]] const PaddedMinibatch& minibatch() const { return minibatch_; }
  [[nodiscard]] bool has_recording() const { return step_.has_recording(); }

 private:
  /// What is recorded.
  void compute();

  Policy& policy_;
  rl::PpoCoefficients coefficients_;
  PaddedMinibatch minibatch_;
  torch::Tensor sums_;
  GraphedStep step_;  ///< last, so that its recording ends before the tensors that it uses
};

}  // namespace traffic::train
