/// What the pools of all nodes have counted.
#pragma once

#include "traffic/comm/communicator.h"
#include "traffic/rollout/pool/env_pool.h"

namespace traffic::train {

/// Collective. @param node what the pool of this rank's node has counted, the same for its ranks
[[nodiscard]] rollout::PoolCounters sum_over_nodes(const rollout::PoolCounters& node,
                                                   comm::Communicator& communicator);

}  // namespace traffic::train
