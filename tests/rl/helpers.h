#pragma once

#include <gtest/gtest.h>
#include <torch/types.h>

#include <functional>
#include <vector>

#include "traffic/rl/ppo_loss.h"

namespace traffic::rl::testing {

inline torch::Tensor f64(const std::vector<double>& x) { return torch::tensor(x, torch::kFloat64); }
inline torch::Tensor i64(const std::vector<std::int64_t>& x) {
  return torch::tensor(x, torch::kInt64);
}

/// Largest difference between two tensors of the same shape.
inline double distance(const torch::Tensor& a, const torch::Tensor& b) {
  if (a.sizes() != b.sizes()) return std::numeric_limits<double>::infinity();
  if (a.numel() == 0) return 0.0;
  return (a.to(torch::kFloat64) - b.to(torch::kFloat64)).abs().max().item<double>();
}

/// Numbers from a generator with a fixed seed, so that a test does not depend on the tests before
/// it.
inline torch::Tensor noise(std::uint64_t seed, torch::IntArrayRef sizes,
                           torch::ScalarType type = torch::kFloat64) {
  return torch::randn(sizes, at::make_generator<at::CPUGeneratorImpl>(seed),
                      torch::TensorOptions().dtype(type));
}

/// The gradient of f at x by central differences.
inline torch::Tensor numeric_gradient(const std::function<torch::Tensor(const torch::Tensor&)>& f,
                                      const torch::Tensor& x) {
  const double h = 1e-6;
  torch::Tensor gradient = torch::zeros_like(x);
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    torch::Tensor up = x.detach().clone();
    torch::Tensor down = x.detach().clone();
    up.view(-1)[i] += h;
    down.view(-1)[i] -= h;
    gradient.view(-1)[i] = (f(up) - f(down)) / (2 * h);
  }
  return gradient;
}

inline torch::Tensor autograd_gradient(const std::function<torch::Tensor(const torch::Tensor&)>& f,
                                       const torch::Tensor& x) {
  torch::Tensor leaf = x.detach().clone().requires_grad_();
  f(leaf).backward();
  return leaf.grad();
}

/// The error of a central difference with h = 1e-6 on functions of order 1: h^2 from the third
/// derivative and 1e-16 / h from rounding.
inline constexpr double kNumericError = 1e-8;

inline void expect_gradient(const std::function<torch::Tensor(const torch::Tensor&)>& f,
                            const torch::Tensor& x) {
  EXPECT_LT(distance(autograd_gradient(f, x), numeric_gradient(f, x)), kNumericError);
}

/// Counts the terms of these inputs: the denominators if there is one rank.
inline PpoDenominators count_terms(const PpoLossInputs& in) {
  const auto count = [](const torch::Tensor& x, const torch::Tensor& mask) {
    const std::int64_t terms = mask.defined() ? mask.sum().item<std::int64_t>() : x.numel();
    return terms > 0 ? static_cast<double>(terms)
                     : 1.0;  // a sum over no terms is 0, whatever divides it
  };
  return {.decisions = count(in.decisions.log_prob, in.decisions.mask),
          .values = count(in.values.values, in.values.mask)};
}

}  // namespace traffic::rl::testing
