#include "rollouts/pool_count.h"

#include <torch/types.h>

#include <array>

namespace traffic::train {

rollout::PoolCounters sum_over_nodes(const rollout::PoolCounters& node,
                                     comm::Communicator& communicator) {
  const bool speaks = communicator.topology().is_leader();
  rollout::PoolCounters all = speaks ? node : rollout::PoolCounters{};
  const std::array<std::uint64_t*, 6> values = {&all.steps,    &all.episodes, &all.lost_episodes,
                                                &all.restarts, &all.timeouts, &all.rejected};
  torch::Tensor sums = torch::zeros({static_cast<std::int64_t>(values.size())}, torch::kLong);
  auto* sum = sums.data_ptr<std::int64_t>();
  for (std::size_t i = 0; i < values.size(); ++i) sum[i] = static_cast<std::int64_t>(*values[i]);
  communicator.all_reduce(sums);
  for (std::size_t i = 0; i < values.size(); ++i) *values[i] = static_cast<std::uint64_t>(sum[i]);
  return all;
}

}  // namespace traffic::train
