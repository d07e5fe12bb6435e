#include "ppo/minibatches.h"

#include <algorithm>

#include "traffic/core/random.h"
#include "traffic/rl/minibatch.h"

namespace traffic::train {

std::vector<torch::Tensor> split_minibatches(const torch::Tensor& global_state,
                                             std::int64_t total_states, std::uint64_t seed,
                                             const EpochKey& key) {
  const std::int64_t count = rl::count_minibatches(total_states, key.size);
  const std::uint64_t of_epoch =
      derive_seed(seed, {key.stream, static_cast<std::uint64_t>(key.iteration),
                         static_cast<std::uint64_t>(key.epoch)});
  torch::Tensor mine = torch::full({total_states}, -1, torch::kLong);
  mine.index_put_({global_state}, torch::arange(global_state.numel()));
  std::vector<torch::Tensor> parts;
  for (const torch::Tensor& part : rl::permuted_minibatches(total_states, count, of_epoch)) {
    const torch::Tensor local = mine.index_select(0, part);
    parts.push_back(local.masked_select(local >= 0));
  }
  return parts;
}

torch::Tensor count_terms(const Experience& experience, const std::vector<torch::Tensor>& parts) {
  torch::Tensor counts =
      torch::zeros({static_cast<std::int64_t>(parts.size()), kNumTerms}, torch::kDouble);
  auto* count = counts.mutable_data_ptr<double>();
  const auto* decided = experience.decided.ptr().const_data_ptr<std::int64_t>();
  const auto* exists = experience.exists.const_data_ptr<bool>();
  const std::int64_t conflicts = experience.exists.size(1);
  for (const torch::Tensor& states : parts) {
    const auto* state = states.const_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < states.numel(); ++i) {
      const std::int64_t s = state[i];
      count[kDecisionTerms] += static_cast<double>(decided[s + 1] - decided[s]);
      count[kValueTerms] += static_cast<double>(
          std::count(exists + s * conflicts, exists + (s + 1) * conflicts, true));
    }
    count += kNumTerms;
  }
  return counts;
}

}  // namespace traffic::train
