/// Splits the states of all ranks into minibatches, so that the minibatches do not depend on the
/// number of ranks.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "rollouts/experience.h"

namespace traffic::train {

/// Identifies an epoch and gives the size of its minibatches. The order of the states is drawn from
/// a seed and the first three numbers.
struct EpochKey {
  std::uint64_t stream = 0;  ///< number of the random stream; each user has its own
  std::int64_t iteration = 0;
  std::int64_t epoch = 0;
  std::int64_t size = 1;  ///< states of all ranks in a minibatch
};

/// Permutes the joined batch of all ranks and cuts it into minibatches. Each rank gets those states
/// of every minibatch that it has collected itself.
/// @param global_state [S] index of this rank's states among those of all ranks
/// @param total_states number of states of all ranks
/// @return this rank's states of each minibatch; every rank gets the same number of minibatches
std::vector<torch::Tensor> split_minibatches(const torch::Tensor& global_state,
                                             std::int64_t total_states, std::uint64_t seed,
                                             const EpochKey& key);

/// Columns of count_terms().
enum Terms : std::int64_t { kDecisionTerms, kValueTerms, kNumTerms };

/// Counts the decisions and the existing conflicts in this rank's states of each minibatch.
/// @param parts this rank's states of each minibatch
/// @return [parts, kNumTerms] float64
torch::Tensor count_terms(const Experience& experience, const std::vector<torch::Tensor>& parts);

}  // namespace traffic::train
