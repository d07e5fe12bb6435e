/// Divides the states of a rollout into random minibatches for one epoch of PPO.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace traffic::rl {

/// Number of minibatches in an epoch, the same on every rank: states_of_all_ranks / minibatch_size,
/// rounded up, at least 1.
/// @param minibatch_size states of all ranks in one minibatch
std::int64_t count_minibatches(std::int64_t states_of_all_ranks, std::int64_t minibatch_size);

/// Divides a random permutation of this rank's states into `minibatches` parts, whose sizes differ
/// by at most one. If there are fewer states than parts, some parts are empty. The result depends
/// on the arguments alone. Callers derive `seed` from the seed of the run, iteration, epoch and
/// rank, so checkpoints need no random state.
/// @return for each minibatch the indices of its states, int64 on the CPU
std::vector<torch::Tensor> permuted_minibatches(std::int64_t states, std::int64_t minibatches,
                                                std::uint64_t seed);

}  // namespace traffic::rl
