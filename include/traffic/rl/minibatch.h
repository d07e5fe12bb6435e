/// The order in which an epoch visits the states of a rollout.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace traffic::rl {

/// Number of minibatches in an epoch, the same on every rank: states of all ranks divided by
/// minibatch_size (also of all ranks), rounded up, at least 1.
std::int64_t count_minibatches(std::int64_t states_of_all_ranks, std::int64_t minibatch_size);

/// A permutation of this rank's states, cut into `minibatches` parts whose sizes differ by at most
/// one. Every state is in exactly one part; with fewer states than parts, some parts are empty. The
/// order depends on the arguments alone, so a checkpoint needs only (seed, iteration, epoch, rank),
/// from which the caller derives `seed`.
/// @return for each minibatch the indices of its states, int64 on the CPU
std::vector<torch::Tensor> permuted_minibatches(std::int64_t states, std::int64_t minibatches,
                                                std::uint64_t seed);

}  // namespace traffic::rl
