/// Probability distributions from which a policy draws the commands of vehicles, and an estimate of
/// the KL divergence between two policies.
///
/// A batch holds D decisions, each with its own distribution. To draw samples, the caller passes
/// uniform random numbers, which alone determine the samples. log_prob() and entropy() are
/// differentiable. Tensors are float32 or float64.
#pragma once

#include <torch/types.h>

#include <cmath>

namespace traffic::rl {

/// A choice among A actions, such as the longitudinal commands or the lane changes.
class Categorical {
 public:
  /// @param logits [D, A]
  /// @throws ShapeError if the logits are not a two-dimensional floating-point tensor
  explicit Categorical(torch::Tensor logits);

  /// @param uniforms [D, A] in [0, 1), of the logits' type
  /// @return [D] int64
  [[nodiscard]] torch::Tensor sample(const torch::Tensor& uniforms) const;
  [[nodiscard]] torch::Tensor greedy() const;  ///< [D] int64: the most probable actions
  [[nodiscard]] torch::Tensor log_prob(const torch::Tensor& actions) const;  ///< [D]
  [[nodiscard]] torch::Tensor entropy() const;                               ///< [D] nats
  [[nodiscard]] torch::Tensor log_probs() const;                             ///< [D, A]

 private:
  torch::Tensor logits_;
};

/// The actions of D decisions; each decision refers to one of the M rows of a tensor of logits.
struct TakenActions {
  torch::Tensor row;     ///< [D] int64: row of the decision, in [0, M)
  torch::Tensor action;  ///< [D] int64
};

/// Log-probability and entropy (in nats) of each decision, [D], with gradient.
struct ActionTerms {
  torch::Tensor log_prob;
  torch::Tensor entropy;
};

/// Computes the same as Categorical(logits.index_select(0, row)), but faster: on the CPU it runs
/// one fused loop forward and one backward. PPO calls it hundreds of times per iteration.
/// @param logits [M, A]
/// @throws ShapeError if shapes, types or devices disagree, or if a row or action does not exist
///   (checked on the CPU only)
ActionTerms categorical_terms(const torch::Tensor& logits, const TakenActions& taken);

/// Range of a continuous command.
struct ActionBounds {
  double low = 0.0;
  double high = 1.0;

  /// Maps a raw sample z through tanh(z) to the range low .. high.
  [[nodiscard]] double squash(double z) const {
    return low + (high - low) * 0.5 * (1.0 + std::tanh(z));
  }
};

/// Distribution of a continuous command (a target speed or an acceleration) within bounds. A raw
/// sample z of a diagonal Gaussian is mapped into the bounds by ActionBounds::squash(). The
/// experience stores z.
class BoundedGaussian {
 public:
  /// @param mean [D, A] means of z
  /// @param log_std logarithms of the standard deviations of z; the shape broadcasts to [D, A]
  BoundedGaussian(torch::Tensor mean, const torch::Tensor& log_std, ActionBounds bounds);

  /// @param uniforms [D, A] in [0, 1), of the mean's type
  /// @return raw samples z, [D, A]
  [[nodiscard]] torch::Tensor sample(const torch::Tensor& uniforms) const;
  [[nodiscard]] torch::Tensor greedy() const;  ///< z = mean, [D, A]
  /// Logarithm of the density of the mapped action, summed over A, [D].
  [[nodiscard]] torch::Tensor log_prob(const torch::Tensor& raw) const;
  /// Entropy of z, summed over A, [D], in nats. The entropy of the mapped action has no closed
  /// form.
  [[nodiscard]] torch::Tensor entropy() const;

 private:
  torch::Tensor mean_;
  torch::Tensor log_std_;
  ActionBounds bounds_;
};

/// Estimates the KL divergence KL(old || new) from samples of the old policy: (r - 1) - log r,
/// where r is the ratio of the new to the old probability. The estimate is unbiased and never
/// negative.
/// @param log_ratio log r = log_prob - old_log_prob, in any shape
/// @return estimates in the same shape
/// Source: Schulman 2020, "Approximating KL divergence" (its estimator k3).
torch::Tensor kl_k3(const torch::Tensor& log_ratio);

}  // namespace traffic::rl
