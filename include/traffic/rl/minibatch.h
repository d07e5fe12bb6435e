/// In which order an epoch goes through the states of a rollout.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace traffic::rl {

/// Minibatches of an epoch, the same number on every rank: what ranks hold together over what a
/// minibatch should hold together, rounded up, at least 1.
std::int64_t count_minibatches(std::int64_t states_of_all_ranks, std::int64_t minibatch_size);

/// A permutation of this rank's states, cut into `minibatches` parts whose sizes differ by one at
/// most. Every state is in exactly one; a part is empty where there are fewer states than parts.
/// The order depends on the arguments alone: nothing to save but (seed, iteration, epoch, rank),
/// from which the caller derives `seed`.
/// @return for each minibatch the indices of its states, int64 on the CPU
std::vector<torch::Tensor> permuted_minibatches(std::int64_t states, std::int64_t minibatches,
                                                std::uint64_t seed);

}  // namespace traffic::rl
