/// Selection of at most K of a state's candidates, one at a time, without replacement.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "traffic/rl/segments.h"

namespace traffic::rl {

/// The Plackett-Luce distribution for many states at once: each pick is drawn from the remaining
/// candidates with probability proportional to exp(score). In a state with fewer than K candidates,
/// all are picked in a random order.
///
/// Picks are a tensor [B, K] int64, with the first pick first and -1 where there is no pick. A pick
/// is a position among the candidates of its own state, so picks remain valid in a minibatch.
///
/// If a state's candidates are all picked, only their order is random, and nothing depends on the
/// order. Leave such states out of the policy loss.
///
/// log_prob() and entropy() are differentiable once with respect to the scores; types are float32
/// and float64. Source: Kool et al. 2019, arXiv:1903.06059 (Gumbel top-k draws from this
/// distribution).
class PlackettLuce {
 public:
  /// @param scores [M], on the device of the segments
  /// @throws ShapeError if shapes, types or devices disagree
  PlackettLuce(torch::Tensor scores, Segments segments);

  /// @param uniforms [M] in [0, 1), of the scores' type: one random number per candidate
  [[nodiscard]] torch::Tensor sample(const torch::Tensor& uniforms, std::int64_t top_k) const;
  /// The highest scores in descending order; among equal scores the earlier candidate comes first.
  [[nodiscard]] torch::Tensor greedy(std::int64_t top_k) const;
  /// Log-probability of these picks in this order, [B]; 0 where there is no pick.
  /// @throws ShapeError if a pick is not a valid position in its state (checked on the CPU only)
  [[nodiscard]] torch::Tensor log_prob(const torch::Tensor& picks) const;
  /// Entropy of the first pick, [B], in nats; 0 with fewer than two candidates. The entropy of the
  /// whole ordered selection has no closed form; it would need an enumeration.
  [[nodiscard]] torch::Tensor entropy() const;

 private:
  /// @param keys [M]
  [[nodiscard]] torch::Tensor top_of(const std::vector<double>& keys, std::int64_t top_k) const;
  void check_picks(const torch::Tensor& picks) const;

  torch::Tensor scores_;
  Segments segments_;
};

}  // namespace traffic::rl
