// Computes advantages by generalised advantage estimation (GAE).
#include "traffic/rl/gae.h"

#include <cmath>
#include <vector>

#include "check.h"

namespace traffic::rl {
namespace {

void check_inputs(const GaeInputs& in) {
  const torch::Tensor& rewards = in.rewards;
  if (!rewards.defined() || (rewards.dim() != 2 && rewards.dim() != 3) ||
      rewards.scalar_type() != torch::kFloat32) {
    throw ShapeError("gae: rewards is {}, expected [T, B] or [T, B, C] float32", describe(rewards));
  }
  check_like("gae: values", in.values, rewards);
  check_like("gae: next_values", in.next_values, rewards);
  const auto steps = rewards.sizes().slice(0, 2);
  check_tensor("gae: terminated", in.terminated, steps, torch::kBool, rewards.device());
  check_tensor("gae: truncated", in.truncated, steps, torch::kBool, rewards.device());
  if (in.periods.defined()) {
    check_tensor("gae: periods", in.periods, steps, torch::kInt64, rewards.device());
  }
}

torch::Tensor on_cpu(const torch::Tensor& x) { return x.detach().cpu().contiguous(); }

}  // namespace

torch::Tensor gae(const GaeInputs& in, double gamma, double gae_lambda) {
  check_inputs(in);
  const torch::Tensor rewards = on_cpu(in.rewards);
  const torch::Tensor values = on_cpu(in.values);
  const torch::Tensor next_values = on_cpu(in.next_values);
  const torch::Tensor terminated = on_cpu(in.terminated);
  const torch::Tensor truncated = on_cpu(in.truncated);
  const torch::Tensor periods = in.periods.defined() ? on_cpu(in.periods) : torch::Tensor();
  torch::Tensor advantages = torch::empty_like(rewards);

  const std::int64_t T = rewards.size(0);
  const std::int64_t B = rewards.size(1);
  const std::int64_t C = rewards.dim() == 3 ? rewards.size(2) : 1;
  const auto* reward = rewards.const_data_ptr<float>();
  const auto* value = values.const_data_ptr<float>();
  const auto* next_value = next_values.const_data_ptr<float>();
  const auto* ends = terminated.const_data_ptr<bool>();
  const auto* cut = truncated.const_data_ptr<bool>();
  const auto* lasts = periods.defined() ? periods.const_data_ptr<std::int64_t>() : nullptr;
  auto* advantage = advantages.mutable_data_ptr<float>();

  std::vector<double> carry(static_cast<std::size_t>(B * C), 0.0);
  for (std::int64_t t = T - 1; t >= 0; --t) {
    for (std::int64_t b = 0; b < B; ++b) {
      const std::int64_t step = t * B + b;
      const double discount =
          lasts == nullptr ? gamma : std::pow(gamma, static_cast<double>(lasts[step]));
      const double bootstrap = ends[step] ? 0.0 : discount;
      const double keep = ends[step] || cut[step] ? 0.0 : discount * gae_lambda;
      for (std::int64_t c = 0; c < C; ++c) {
        const std::int64_t i = step * C + c;
        // A terminated step has no next value. Its entry may be NaN, so it is not read.
        const double next = ends[step] ? 0.0 : bootstrap * static_cast<double>(next_value[i]);
        const double delta = static_cast<double>(reward[i]) + next - static_cast<double>(value[i]);
        double& running = carry[static_cast<std::size_t>(b * C + c)];
        running = delta + keep * running;
        advantage[i] = static_cast<float>(running);
      }
    }
  }
  return advantages.to(in.rewards.device());
}

}  // namespace traffic::rl
