/// Selection of at most K of a state's candidates, one after the other, without replacement.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "traffic/rl/segments.h"

namespace traffic::rl {

/// The Plackett-Luce distribution of many states at once: every next pick is drawn from what is
/// left with probability proportional to exp(score). A state with fewer than K candidates gets all
/// of them, in a random order; one with none gets none.
///
/// Picks are [B, K] int64: the place of each within its state's candidates, first pick first, -1
/// where there is none. Being places within the state they stay true in a minibatch.
///
/// Where all candidates are picked only their order is random, and nothing depends on it: leave
/// those states out of the policy's loss.
///
/// log_prob and entropy carry first derivatives to the scores; float32 or float64.
/// Source: Kool et al. 2019, arXiv:1903.06059 (Gumbel top-k draws from this distribution).
class PlackettLuce {
 public:
  /// @param scores [M], on the device of the segments
  /// @throws ShapeError if shapes, types or devices disagree
  PlackettLuce(torch::Tensor scores, Segments segments);

  /// @param uniforms [M] in [0, 1), of the scores' type: the random numbers, one a candidate
  [[nodiscard]] torch::Tensor sample(const torch::Tensor& uniforms, std::int64_t top_k) const;
  /// The highest scores, highest first; of equal ones the earlier.
  [[nodiscard]] torch::Tensor greedy(std::int64_t top_k) const;
  /// Logarithm of the probability of these picks in this order, [B]; 0 for no pick.
  /// @throws ShapeError if a pick is no place of its state (looked at on the CPU only)
  [[nodiscard]] torch::Tensor log_prob(const torch::Tensor& picks) const;
  /// Entropy of the first pick, [B], in nats; 0 with fewer than two candidates. The entropy of the
  /// ordered selection has no closed form short of enumerating it.
  [[nodiscard]] torch::Tensor entropy() const;

 private:
  /// @param keys [M]
  [[nodiscard]] torch::Tensor top_of(const std::vector<double>& keys, std::int64_t top_k) const;
  void check_picks(const torch::Tensor& picks) const;

  torch::Tensor scores_;
  Segments segments_;
};

}  // namespace traffic::rl
