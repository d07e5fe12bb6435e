#include "offpolicy/batch_memory.h"

#include <torch/utils.h>

namespace traffic::train::offpolicy {
namespace {

template <typename T>
std::span<T> numbers_of(const torch::Tensor& x) {
  return {x.mutable_data_ptr<T>(), static_cast<std::size_t>(x.numel())};
}

}  // namespace

BatchMemory::BatchMemory(const replay::SegmentShape& shape, std::int64_t size)
    : batch_{.obs = torch::zeros({size, shape.obs_dim}),
             .actions = torch::zeros({size}, torch::kLong),
             .action_vectors = torch::zeros({size, shape.action_dim}),
             .steps = {.returns = torch::zeros({size}), .discounts = torch::zeros({size})},
             .next_obs = torch::zeros({size, shape.obs_dim})} {}

replay::Transitions BatchMemory::rows() {
  return {.obs = numbers_of<float>(batch_.obs),
          .actions = numbers_of<std::int64_t>(batch_.actions),
          .action_vectors = numbers_of<float>(batch_.action_vectors),
          .returns = numbers_of<float>(batch_.steps.returns),
          .discounts = numbers_of<float>(batch_.steps.discounts),
          .next_obs = numbers_of<float>(batch_.next_obs)};
}

}  // namespace traffic::train::offpolicy
