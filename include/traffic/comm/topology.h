/// Which ranks share a node.
#pragma once

#include <cstddef>
#include <vector>

namespace traffic::comm {

/// The node of every rank. Nodes are numbered in the order of their lowest rank.
struct Topology {
  int rank = 0;
  int size = 1;
  std::vector<int> node_of_rank = {0};  ///< [size]
  std::vector<int> local_ranks = {0};   ///< ranks of this rank's node, ascending
  std::vector<int> leaders = {0};       ///< the lowest rank of each node

  [[nodiscard]] int node() const { return node_of_rank[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] int num_nodes() const { return static_cast<int>(leaders.size()); }
  [[nodiscard]] int local_size() const { return static_cast<int>(local_ranks.size()); }
  [[nodiscard]] int local_rank() const;  ///< position in local_ranks
  [[nodiscard]] bool is_leader() const { return local_ranks.front() == rank; }
};

/// @throws CommError if node_of_rank does not describe nodes
Topology make_topology(int rank, std::vector<int> node_of_rank);

}  // namespace traffic::comm
