#include "ppo/value_fit.h"

#include "policy/gather.h"
#include "ppo/minibatches.h"
#include "traffic/rl/advantages.h"
#include "traffic/rl/ppo_loss.h"

namespace traffic::train {

torch::Tensor fit_pass(const Experience& experience, const torch::Tensor& returns,
                       const std::vector<torch::Tensor>& parts, const ValueFit& fit,
                       comm::Communicator& communicator) {
  const torch::Device device = communicator.device();
  const auto n = static_cast<std::int64_t>(parts.size());
  torch::Tensor sums = torch::zeros({2, n}, torch::kDouble);
  sums[0].copy_(count_terms(experience, parts).select(1, kValueTerms));
  torch::Tensor counts = sums[0].clone();
  communicator.all_reduce(counts);
  counts.clamp_min_(1.0);
  for (std::int64_t i = 0; i < n; ++i) {
    const torch::Tensor& states = parts[static_cast<std::size_t>(i)];
    fit.zero_gradients();
    const torch::Tensor rows = gather(experience.conflict, states).to(device);
    const torch::Tensor wanted = gather(returns, states).to(device);
    const torch::Tensor now = fit.value(rows.flatten(0, 1)).view(wanted.sizes());
    const torch::Tensor loss =
        rl::value_loss_sum({.values = now,
                            .old_values = now.detach(),
                            .returns = wanted,
                            .mask = gather(experience.exists, states).to(device)},
                           0.0);
    (fit.weight * loss / counts[i].item<double>()).backward();
    sums[1][i] = loss.item<double>();
    fit.step();
  }
  return sums;
}

torch::Tensor moments_over_ranks(const torch::Tensor& x, const Experience& experience,
                                 comm::Communicator& communicator) {
  torch::Tensor moments = rl::moments_of(x, x.size(-1), experience.exists);
  communicator.all_reduce(moments);
  return moments;
}

}  // namespace traffic::train
