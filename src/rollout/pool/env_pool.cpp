// EnvPool, the base class of pools: assigns environments to ranks and divides those of a rank into
// groups.
#include "traffic/rollout/pool/env_pool.h"

#include <algorithm>

#include "traffic/core/error.h"

namespace traffic::rollout {

EnvPool::EnvPool(int rank, int num_ranks, int num_envs, int num_groups)
    : rank_(rank), num_ranks_(num_ranks), num_envs_(num_envs) {
  for (int env = rank; env < num_envs; env += num_ranks) my_envs_.push_back(env);
  const auto groups = static_cast<std::size_t>(num_groups);
  const std::size_t each = (my_envs_.size() + groups - 1) / groups;
  for (std::size_t first = 0; first < my_envs_.size(); first += each) {
    const std::size_t end = std::min(first + each, my_envs_.size());
    groups_.emplace_back(my_envs_.begin() + static_cast<std::ptrdiff_t>(first),
                         my_envs_.begin() + static_cast<std::ptrdiff_t>(end));
  }
}

std::size_t EnvPool::index_of(int env) const {
  TRAFFIC_CHECK(env >= 0 && env < num_envs_ && env % num_ranks_ == rank_,
                "environment {} does not belong to rank {}", env, rank_);
  return static_cast<std::size_t>(env / num_ranks_);
}

std::vector<Event> EventSource::wait_all(std::span<const int> envs) {
  std::vector<Event> events;
  wait_all(envs, events);
  return events;
}

}  // namespace traffic::rollout
