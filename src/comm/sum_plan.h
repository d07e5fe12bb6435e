/// SumPlan: the order in which the values of the ranks are summed, and which node sums what. The
/// order is that of a binary tree over the rank numbers, so that the bits of a sum do not depend on
/// how the ranks are spread over nodes. A tree of n ranks consists of a tree of the first m ranks
/// and a tree of the other n - m ranks. Here m is the largest power of two below n.
///
/// Each node sums the largest subtrees whose ranks are all on this node. The sum of such a subtree
/// is a part. The leaders of nodes exchange the parts and merge them. There is one part per node if
/// the ranks of each node have consecutive numbers (mpirun's default), and all nodes have the same
/// number of ranks, which is a power of two.
#pragma once

#include <cstdint>
#include <vector>

namespace traffic::comm {

/// Describes the tree for code that takes the sources one by one and keeps a stack of partial sums.
/// The code pushes source i to the stack. Then it replaces the last two partial sums by their sum,
/// merges[i] times. For example, the merges {0, 1, 0, 2} mean (s0 + s1) + (s2 + s3).
using Merges = std::vector<std::uint8_t>;

/// A subtree whose ranks are on one node.
struct SumPart {
  int first_rank = 0;
  int num_ranks = 1;
  int node = 0;
};

/// How the nodes compute a sum together.
struct SumPlan {
  std::vector<SumPart> parts;  ///< parts of all nodes, ascending by rank
  Merges merges;               ///< [parts] how the parts are merged into the total sum
};

/// @param node_of_rank [ranks] the node of every rank
SumPlan plan_sum(const std::vector<int>& node_of_rank);

/// Merges of a tree of num_ranks ranks in which every rank is one source.
Merges tree_merges(int num_ranks);

}  // namespace traffic::comm
