#include "minibatches.h"

#include "traffic/core/random.h"
#include "traffic/rl/minibatch.h"

namespace traffic::train {

std::vector<torch::Tensor> split_minibatches(const Experience& experience,
                                             std::int64_t total_states, std::uint64_t seed,
                                             const EpochKey& key) {
  const std::int64_t count = rl::count_minibatches(total_states, key.size);
  const std::uint64_t of_epoch =
      derive_seed(seed, {key.stream, static_cast<std::uint64_t>(key.iteration),
                         static_cast<std::uint64_t>(key.epoch)});
  torch::Tensor mine = torch::full({total_states}, -1, torch::kLong);
  mine.index_put_({experience.global_state}, torch::arange(experience.num_states()));
  std::vector<torch::Tensor> parts;
  for (const torch::Tensor& part : rl::permuted_minibatches(total_states, count, of_epoch)) {
    const torch::Tensor local = mine.index_select(0, part);
    parts.push_back(local.masked_select(local >= 0));
  }
  return parts;
}

}  // namespace traffic::train
