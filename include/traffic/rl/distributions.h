/// Distributions of the commands of the chosen CVs, and the distance between two policies.
///
/// D decisions in one batch, each with its own distribution. Draws take their random numbers as a
/// tensor of uniforms, so that the caller's stream alone decides them. log_prob and entropy carry
/// gradients; float32 or float64.
#pragma once

#include <torch/types.h>

#include <cmath>

namespace traffic::rl {

/// One of A actions: the longitudinal and the lane head.
class Categorical {
 public:
  /// @param logits [D, A]
  /// @throws ShapeError if they have another shape or are no floating-point numbers
  explicit Categorical(torch::Tensor logits);

  /// @param uniforms [D, A] in [0, 1), of the logits' type
  /// @return [D] int64
  [[nodiscard]] torch::Tensor sample(const torch::Tensor& uniforms) const;
  [[nodiscard]] torch::Tensor greedy() const;                                ///< [D] int64
  [[nodiscard]] torch::Tensor log_prob(const torch::Tensor& actions) const;  ///< [D]
  [[nodiscard]] torch::Tensor entropy() const;                               ///< [D] nats
  [[nodiscard]] torch::Tensor log_probs() const;                             ///< [D, A]

 private:
  torch::Tensor logits_;
};

/// Actions [D] that some of M rows took.
struct TakenActions {
  torch::Tensor row;     ///< [D] int64 into [0, M)
  torch::Tensor action;  ///< [D] int64
};

/// Log-probability and entropy of each, [D], with gradient.
struct ActionTerms {
  torch::Tensor log_prob;
  torch::Tensor entropy;
};

/// As Categorical(logits.index_select(0, row)) has them, but in one loop on the CPU, forward
/// and backward: what PPO asks for hundreds of times.
/// @param logits [M, A]
/// @throws ShapeError if shapes, types or devices disagree, or a row or action does not exist
/// (looked at on the CPU only)
ActionTerms categorical_terms(const torch::Tensor& logits, const TakenActions& taken);

/// Where a continuous command lies.
struct ActionBounds {
  double low = 0.0;
  double high = 1.0;

  /// What a raw sample z stands for: -1 .. 1 of tanh(z) spans low .. high.
  [[nodiscard]] double squash(double z) const {
    return low + (high - low) * 0.5 * (1.0 + std::tanh(z));
  }
};

/// A diagonal Gaussian whose sample z is squashed into bounds: target speed or acceleration. What
/// is kept with the experience is z, the raw sample.
class BoundedGaussian {
 public:
  /// @param mean [D, A] of z
  /// @param log_std of z, [D, A] or anything that broadcasts to it
  BoundedGaussian(torch::Tensor mean, const torch::Tensor& log_std, ActionBounds bounds);

  /// @param uniforms [D, A] in [0, 1), of the mean's type
  /// @return raw samples z, [D, A]
  [[nodiscard]] torch::Tensor sample(const torch::Tensor& uniforms) const;
  [[nodiscard]] torch::Tensor greedy() const;  ///< z = mean, [D, A]
  /// Logarithm of the density of what raw is squashed to, summed over A, [D].
  [[nodiscard]] torch::Tensor log_prob(const torch::Tensor& raw) const;
  /// Of z, before squashing, summed over A, [D], nats; after tanh there is no closed form.
  [[nodiscard]] torch::Tensor entropy() const;

 private:
  torch::Tensor mean_;
  torch::Tensor log_std_;
  ActionBounds bounds_;
};

/// Estimate of KL(old || new) from samples of the old policy: (r - 1) - log r with r = new / old.
/// Never negative, unbiased. log_ratio = log_prob - old_log_prob, any shape.
/// Source: Schulman 2020, "Approximating KL divergence" (its estimator k3).
torch::Tensor kl_k3(const torch::Tensor& log_ratio);

}  // namespace traffic::rl
