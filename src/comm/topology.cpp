// Topology: which ranks are on which node, and which rank is the leader of each node.
#include "traffic/comm/topology.h"

#include <algorithm>
#include <utility>

#include "traffic/core/error.h"

namespace traffic::comm {

int Topology::local_rank() const {
  return static_cast<int>(std::ranges::find(local_ranks, rank) - local_ranks.begin());
}

Topology make_topology(int rank, std::vector<int> node_of_rank) {
  Topology topology;
  topology.rank = rank;
  topology.size = static_cast<int>(node_of_rank.size());
  if (rank < 0 || rank >= topology.size) {
    throw CommError("rank {} does not exist: there are {} ranks, counted from 0", rank,
                    topology.size);
  }
  topology.node_of_rank.resize(node_of_rank.size());
  topology.leaders.clear();
  topology.local_ranks.clear();
  std::vector<int> names;  // numbers of the nodes as the caller gave them, ordered by lowest rank
  for (std::size_t r = 0; r < node_of_rank.size(); ++r) {
    const auto found = std::ranges::find(names, node_of_rank[r]);
    topology.node_of_rank[r] = static_cast<int>(found - names.begin());
    if (found == names.end()) {
      names.push_back(node_of_rank[r]);
      topology.leaders.push_back(static_cast<int>(r));
    }
    if (node_of_rank[r] == node_of_rank[static_cast<std::size_t>(rank)]) {
      topology.local_ranks.push_back(static_cast<int>(r));
    }
  }
  return topology;
}

}  // namespace traffic::comm
