/// PlackettLuce, the distribution from which the policy draws the vehicles that get commands: at
/// most K of the candidates in a state, picked one after the other without replacement.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "traffic/rl/segments.h"

namespace traffic::rl {

/// The Plackett-Luce distribution for B states at once. Each pick is drawn from the remaining
/// candidates of its state, with a probability proportional to exp(score). If a state has fewer
/// than K candidates, all of them are picked in a random order.
///
/// Picks are a tensor [B, K] int64, in the order of picking, filled up with -1 if there are fewer
/// than K picks. A pick is a position among the candidates of its own state, so picks remain valid
/// in a minibatch.
///
/// If all candidates of a state are picked, only their order is random. The order has no effect, so
/// callers leave such states out of the policy loss.
///
/// log_prob() and entropy() are differentiable once with respect to the scores. Scores are float32
/// or float64.
/// Source: Kool et al. 2019, arXiv:1903.06059 (Gumbel top-k draws from this distribution).
class PlackettLuce {
 public:
  /// @param scores [M], the scores of the candidates of all states, on the device of the segments
  /// @param segments tell which candidates belong to each state
  /// @throws ShapeError if shapes, types or devices disagree
  PlackettLuce(torch::Tensor scores, Segments segments);

  /// @param uniforms [M] in [0, 1), of the scores' type: one random number per candidate
  [[nodiscard]] torch::Tensor sample(const torch::Tensor& uniforms, std::int64_t top_k) const;
  /// Picks the highest scores in descending order; among equal scores the earlier candidate comes
  /// first.
  [[nodiscard]] torch::Tensor greedy(std::int64_t top_k) const;
  /// Log-probability of these picks in this order, [B]; 0 for a state without picks.
  /// @throws ShapeError if a pick is not a valid position in its state (checked on the CPU only)
  [[nodiscard]] torch::Tensor log_prob(const torch::Tensor& picks) const;
  /// Entropy of the first pick, [B], in nats; 0 with fewer than two candidates. The entropy of all
  /// picks together has no closed form.
  [[nodiscard]] torch::Tensor entropy() const;

 private:
  /// Picks the top_k highest keys of each state. @param keys [M]
  [[nodiscard]] torch::Tensor top_of(const std::vector<double>& keys, std::int64_t top_k) const;
  void check_picks(const torch::Tensor& picks) const;

  torch::Tensor scores_;
  Segments segments_;
};

}  // namespace traffic::rl
