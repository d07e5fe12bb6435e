// Divides the states of a rollout into random minibatches.
#include "traffic/rl/minibatch.h"

#include <algorithm>
#include <span>

#include "traffic/core/error.h"
#include "traffic/core/random.h"

namespace traffic::rl {
std::int64_t count_minibatches(std::int64_t states_of_all_ranks, std::int64_t minibatch_size) {
  if (minibatch_size < 1)
    throw ConfigError("minibatch_size is {}, must be positive", minibatch_size);
  const std::int64_t full = (states_of_all_ranks + minibatch_size - 1) / minibatch_size;
  return std::max<std::int64_t>(full, 1);
}

std::vector<torch::Tensor> permuted_minibatches(std::int64_t states, std::int64_t minibatches,
                                                std::uint64_t seed) {
  if (states < 0 || minibatches < 1) {
    throw ShapeError("minibatches: cannot divide {} states into {} parts", states, minibatches);
  }
  torch::Tensor order = torch::arange(states, torch::kInt64);
  Rng(seed).shuffle(
      std::span(order.mutable_data_ptr<std::int64_t>(), static_cast<std::size_t>(states)));
  std::vector<torch::Tensor> parts;
  parts.reserve(static_cast<std::size_t>(minibatches));
  for (std::int64_t m = 0; m < minibatches; ++m) {
    parts.push_back(order.slice(0, states * m / minibatches, states * (m + 1) / minibatches));
  }
  return parts;
}

}  // namespace traffic::rl
