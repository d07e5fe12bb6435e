#include "ppo/prior.h"

#include <algorithm>

#include "run/snapshot_parts.h"
#include "traffic/core/error.h"

namespace traffic::train {
namespace {

constexpr const char* kPriorGroup = "prior";
constexpr const char* kPriorSince = "ppo/prior_since";

}  // namespace

Prior::Prior(const config::Config& config, const model::ControllerInputs& widths,
             torch::Device device)
    : first_coef_(config.imitation.prior_coef),
      iterations_(config.training.iterations),
      policy_(config, widths, device) {}

void Prior::set(const Policy& policy, std::int64_t iteration) {
  const torch::NoGradGuard no_grad;
  const comm::NamedTensors from = policy.parameters();
  const comm::NamedTensors to = policy_.parameters();
  TRAFFIC_CHECK(from.size() == to.size(), "the policy has {} parameter tensors, the prior {}",
                from.size(), to.size());
  for (std::size_t i = 0; i < to.size(); ++i) to[i].second.copy_(from[i].second);
  since_ = iteration;
}

double Prior::coef(std::int64_t iteration) const {
  if (since_ < 0) return 0.0;
  const auto whole = static_cast<double>(std::max<std::int64_t>(1, iterations_ - since_));
  return first_coef_ * std::max(0.0, 1.0 - static_cast<double>(iteration - since_) / whole);
}

double Prior::pull(const Minibatch& all, double coef, PpoTargets& targets) {
  const torch::NoGradGuard no_grad;
  const PolicyTermsOf prior = policy_.evaluate_actions(all.input, all.decisions);
  const torch::Tensor ratio = targets.old_log_prob - prior.log_prob.to(torch::kCPU);
  targets.advantages = targets.advantages - coef * ratio;
  targets.selection =
      targets.selection - coef * (targets.old_selection - prior.selection_log_prob.to(torch::kCPU));
  return ratio.sum().item<double>();
}

void Prior::save_to(checkpoint::Snapshot& snapshot) const {
  snapshot.put_int(kPriorSince, since_);
  if (since_ < 0) return;
  checkpoint::Snapshot parameters;
  put_parameters(parameters, policy_.parameters());
  put_group(snapshot, kPriorGroup, parameters);
}

void Prior::restore_from(const checkpoint::Snapshot& snapshot) {
  since_ = snapshot.integer(kPriorSince);
  if (const auto parameters = group_in(snapshot, kPriorGroup)) {
    copy_parameters(*parameters, policy_.parameters());
  }
}

}  // namespace traffic::train
