/// Which states go through an optimiser step together.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "rollouts/experience.h"

namespace traffic::train {

/// What the order of an epoch is drawn from, and how many states of all ranks go together.
struct EpochKey {
  std::uint64_t stream = 0;
  std::int64_t iteration = 0;
  std::int64_t epoch = 0;
  std::int64_t size = 1;
};

/// One permutation of the joined batch, of which each rank takes what it has: which states form a
/// minibatch does not depend on the number of ranks.
/// @param global_state [N] places of this rank's states among those of all ranks
/// @param total_states of all ranks
/// @return this rank's states of each minibatch, as many on every rank
std::vector<torch::Tensor> split_minibatches(const torch::Tensor& global_state,
                                             std::int64_t total_states, std::uint64_t seed,
                                             const EpochKey& key);

/// Columns of count_terms().
enum Terms : std::int64_t { kDecisionTerms, kValueTerms, kNumTerms };

/// [parts, kNumTerms] float64: the decisions, and the conflicts that exist, of this rank's states
/// in each minibatch.
torch::Tensor count_terms(const Experience& experience, const std::vector<torch::Tensor>& parts);

}  // namespace traffic::train
