// Computes the normalised advantages of single decisions (advantages.h).
#include "traffic/rl/advantages.h"

#include "check.h"

namespace traffic::rl {

torch::Tensor moments_of(const torch::Tensor& x, std::int64_t conflicts,
                         const torch::Tensor& mask) {
  const bool fits = x.defined() && x.is_floating_point() && conflicts > 0 &&
                    (conflicts == 1 || (x.dim() > 0 && x.size(-1) == conflicts));
  if (!fits) {
    throw ShapeError(
        "moments_of: x is {}, expected floating point, and a last dimension of {} if there are "
        "several conflicts",
        describe(x), conflicts);
  }
  torch::Tensor values = x.detach().to(torch::kFloat64);
  torch::Tensor counted = torch::ones_like(values);
  if (mask.defined()) {
    check_tensor("moments_of: mask", mask, x.sizes(), torch::kBool, x.device());
    values = values.masked_fill(~mask, 0.0);
    counted = mask.to(torch::kFloat64);
  }
  values = values.reshape({-1, conflicts});
  counted = counted.reshape({-1, conflicts});
  return torch::stack({counted.sum(0), values.sum(0), values.square().sum(0)}).cpu();
}

Scale scale_of(const torch::Tensor& moments) {
  if (!moments.defined() || moments.dim() != 2 || moments.size(0) != kNumMomentRows ||
      moments.scalar_type() != torch::kFloat64) {
    throw ShapeError("scale_of: moments is {}, expected [3, C] float64", describe(moments));
  }
  const torch::Tensor on_cpu = moments.cpu();
  const torch::Tensor count = on_cpu[kCount].clamp_min(1.0);
  const torch::Tensor mean = on_cpu[kSum] / count;
  const torch::Tensor mean_square = on_cpu[kSquares] / count;
  const torch::Tensor variance = mean_square - mean.square();
  // If the variance is below this share of the mean square, it is a rounding error: all entries are
  // equal.
  const torch::Tensor varies = variance > 1e-12 * mean_square;
  return {mean, variance.where(varies, 1.0).sqrt()};
}

torch::Tensor decision_advantages(const DecisionAdvantageInputs& in, const Scale& scale) {
  check_floating("decision_advantages: advantages", in.advantages, 2);
  const torch::Device device = in.advantages.device();
  const std::int64_t C = in.advantages.size(1);
  check_tensor("decision_advantages: scale.mean", scale.mean, {C}, torch::kFloat64, torch::kCPU);
  check_like("decision_advantages: scale.deviation", scale.deviation, scale.mean);
  if (!in.state.defined()) throw ShapeError("decision_advantages: state is undefined");
  const std::int64_t D = in.state.numel();
  check_tensor("decision_advantages: state", in.state, {D}, torch::kInt64, device);
  torch::Tensor conflict = in.conflict;
  if (conflict.defined()) {
    check_like("decision_advantages: conflict", conflict, in.state);
  } else if (C == 1) {
    conflict = torch::zeros_like(in.state);
  } else {
    throw ShapeError("decision_advantages: there are {} conflicts, but conflict is undefined", C);
  }

  torch::Tensor out = in.advantages.detach().index({in.state, conflict}).to(torch::kFloat64);
  if (in.own_cost.defined()) {
    check_tensor("decision_advantages: own_cost", in.own_cost, {D}, in.own_cost.scalar_type(),
                 device);
    out = out - in.own_cost.detach();
  }
  const torch::Tensor mean = scale.mean.to(device).index_select(0, conflict);
  const torch::Tensor deviation = scale.deviation.to(device).index_select(0, conflict);
  return ((out - mean) / deviation).to(in.advantages.scalar_type());
}

}  // namespace traffic::rl
