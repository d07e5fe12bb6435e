/// Sums counters, such as lost episodes and restarts, over the simulation pools of all nodes.
#pragma once

#include "traffic/comm/communicator.h"
#include "traffic/rollout/pool/env_pool.h"

namespace traffic::train {

/// Collective. @param node counters of the pool of this rank's node, equal on all ranks of the node
[[nodiscard]] rollout::PoolCounters sum_over_nodes(const rollout::PoolCounters& node,
                                                   comm::Communicator& communicator);

}  // namespace traffic::train
