/// Makes the optimiser step on a minibatch. The trainings whose gradients are slices of one flat
/// tensor (arena) share it.
#pragma once

#include <span>

#include "optim/slice_optimiser.h"
#include "traffic/comm/flat_arena.h"
#include "traffic/comm/gradient_reducer.h"

namespace traffic::train {

/// An optimiser that takes part in a step.
struct OptimiserStep {
  SliceOptimiser& optimiser;
  double learning_rate = 0.0;
  /// Output: norm of the gradient before clipping; 0 if it was not finite, so that all ranks
  /// skipped this optimiser's step.
  double norm = 0.0;
};

/// Collective. Makes a step: zero_grad, forward and backward, reduce, clip, step.
/// @param clip_norm norm to which each optimiser's gradient is clipped; 0 means no clipping
/// @param backward computes the loss, adds this rank's gradient, and returns whether to take the
///   step. All ranks must return the same value.
/// @return what `backward` returned
/// @throws NumericError after too many skipped steps in a row
template <typename Backward>
bool minibatch_step(comm::GradientArena& gradients, std::span<OptimiserStep> optimisers,
                    double clip_norm, const Backward& backward) {
  gradients.zero();
  if (!backward()) return false;
  gradients.check_views();
  for (OptimiserStep& part : optimisers) {
    const auto norm = part.optimiser.reduce();
    part.norm = norm.value_or(0.0);
    if (!norm) continue;
    part.optimiser.step(part.learning_rate,
                        clip_norm > 0.0 ? comm::clip_factor(*norm, clip_norm) : 1.0);
  }
  return true;
}

}  // namespace traffic::train
