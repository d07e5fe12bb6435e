// RunningMeanStd: the running mean and standard deviation of the returns.
#include "traffic/rl/running_mean_std.h"

#include "check.h"

namespace traffic::rl {
namespace {

enum StateRow : std::int64_t { kStateCount, kMean, kSquaredDeviations };

}  // namespace

RunningMeanStd::RunningMeanStd(std::int64_t conflicts)
    : state_(torch::zeros({3, conflicts}, torch::kFloat64)) {}

void RunningMeanStd::update(const torch::Tensor& moments) {
  check_like("running mean: moments", moments, state_);
  const torch::Tensor added = moments[kCount];
  const torch::Tensor some = added.clamp_min(1.0);
  const torch::Tensor added_mean = moments[kSum] / some;
  const torch::Tensor added_squares = (moments[kSquares] - moments[kSum] * added_mean)
                                          .clamp_min(0.0);  // may be negative by rounding

  const torch::Tensor count = state_[kStateCount];
  const torch::Tensor total = count + added;
  const torch::Tensor share = added / total.clamp_min(1.0);
  const torch::Tensor distance = (added_mean - state_[kMean]).where(added > 0, 0.0);
  state_ = torch::stack(
      {total, state_[kMean] + distance * share,
       state_[kSquaredDeviations] + added_squares + distance.square() * count * share});
}

Scale RunningMeanStd::scale() const {
  const torch::Tensor variance = state_[kSquaredDeviations] / state_[kStateCount].clamp_min(1.0);
  // If the variance is below this share of the squared mean, it is a rounding error: all values are
  // equal.
  const torch::Tensor varies = variance > 1e-12 * state_[kMean].square();
  return {state_[kMean].clone(), variance.where(varies, 1.0).sqrt()};
}

torch::Tensor RunningMeanStd::standardise(const torch::Tensor& x) const {
  const Scale at = scale();
  return (x - at.mean.to(x.options())) / at.deviation.to(x.options());
}

torch::Tensor RunningMeanStd::restore(const torch::Tensor& x) const {
  const Scale at = scale();
  return x * at.deviation.to(x.options()) + at.mean.to(x.options());
}

void RunningMeanStd::load_state(const torch::Tensor& state) {
  check_like("running mean: state", state, state_);
  const bool plausible = state.isfinite().all().item<bool>() &&
                         (state[kStateCount] >= 0).all().item<bool>() &&
                         (state[kSquaredDeviations] >= 0).all().item<bool>();
  if (!plausible) {
    throw ShapeError(
        "running mean: the state must be finite, with counts and squares that are not negative");
  }
  state_ = state.clone();
}

}  // namespace traffic::rl
