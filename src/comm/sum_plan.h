/// In which order the values of the ranks are summed: that of a binary tree over their numbers, so
/// that the bits do not depend on how the ranks are spread over nodes. A tree of n ranks is one of
/// the first m, the largest power of two below n, and one of the rest.
///
/// A node sums up the largest subtrees that lie on it as a whole; each of these parts goes to the
/// other nodes. With as many ranks on every node, a power of two, in the order of nodes (as mpirun
/// places them by itself), that is one part a node.
#pragma once

#include <cstdint>
#include <vector>

namespace traffic::comm {

/// For each source in turn: how often, once it is there, the last two partial sums are added.
using Merges = std::vector<std::uint8_t>;

/// A subtree whose ranks are on one node.
struct SumPart {
  int first_rank = 0;
  int num_ranks = 1;
  int node = 0;
};

struct SumPlan {
  std::vector<SumPart> parts;  ///< of all nodes, ascending by rank
  Merges merges;               ///< [parts] how they make the whole
};

SumPlan plan_sum(const std::vector<int>& node_of_rank);

/// Of a tree of so many ranks, each a source.
Merges tree_merges(int num_ranks);

}  // namespace traffic::comm
