/// Topology: which ranks of the job run on which node. A node is a group of ranks that share
/// memory, usually one machine.
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

/// Makes the topology of rank `rank`.
/// @param node_of_rank [size] any number for each rank; two ranks have the same number if and only
///   if they run on the same node
/// @throws CommError if `rank` is not a valid index of node_of_rank
Topology make_topology(int rank, std::vector<int> node_of_rank);

}  // namespace traffic::comm
