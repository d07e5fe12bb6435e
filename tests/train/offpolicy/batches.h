/// Divides a batch into parts, for tests in which each rank learns from its part.
#pragma once

#include <cstdint>

#include "train/offpolicy/learner.h"

namespace traffic::train::offpolicy::testing {

/// The rows [first, first + count) of a batch.
inline Batch rows_of(const Batch& whole, std::int64_t first, std::int64_t count) {
  const auto part = [&](const torch::Tensor& x) { return x.narrow(0, first, count).contiguous(); };
  return {.obs = part(whole.obs),
          .actions = part(whole.actions),
          .action_vectors = part(whole.action_vectors),
          .steps = {.returns = part(whole.steps.returns), .discounts = part(whole.steps.discounts)},
          .next_obs = part(whole.next_obs)};
}

}  // namespace traffic::train::offpolicy::testing
