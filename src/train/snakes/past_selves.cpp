#include "snakes/past_selves.h"

#include <torch/utils.h>

namespace traffic::train::snakes {
namespace {

constexpr const char* kEntry = "past_selves";

}  // namespace

PastSelves::PastSelves(const Snakes& settings, const offpolicy::ActingNetwork& policy)
    : settings_(settings),
      policy_(policy),
      playing_{.network = model::Mlp(policy.network->shape()), .first_score = policy.first_score} {}

torch::Tensor PastSelves::flat_policy() const {
  std::vector<torch::Tensor> all;
  for (const auto& parameter : policy_.network->parameters()) {
    all.push_back(parameter.detach().flatten());
  }
  return torch::cat(all).to(torch::kCPU);
}

void PastSelves::keep(std::int64_t before, std::int64_t after) {
  if (settings_.self_play_share == 0.0 || after < settings_.self_play_from_episode) return;
  const bool due = before / settings_.pool_interval != after / settings_.pool_interval;
  if (!due && !kept_.empty()) return;
  kept_.push_back(flat_policy());
  if (std::ssize(kept_) > settings_.pool_size) kept_.pop_front();
}

void PastSelves::pick_index(std::size_t index) {
  const torch::NoGradGuard no_grad;
  std::int64_t at = 0;
  for (auto& parameter : playing_.network->parameters()) {
    parameter.copy_(kept_[index].narrow(0, at, parameter.numel()).view(parameter.sizes()));
    at += parameter.numel();
  }
}

void PastSelves::save_to(checkpoint::Snapshot& snapshot) const {
  if (kept_.empty()) return;
  snapshot.put_tensor(kEntry, torch::stack(std::vector<torch::Tensor>(kept_.begin(), kept_.end())));
}

void PastSelves::restore_from(const checkpoint::Snapshot& snapshot) {
  kept_.clear();
  if (!snapshot.contains(kEntry)) return;
  const torch::Tensor any = snapshot.tensor(kEntry);
  const std::int64_t policies = any.dim() > 0 ? any.size(0) : 0;
  const auto all = snapshot.tensor(kEntry, {policies, flat_policy().numel()}, torch::kFloat);
  for (const torch::Tensor& one : all.unbind(0)) kept_.push_back(one.clone());
}

}  // namespace traffic::train::snakes
