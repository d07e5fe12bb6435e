/// The order in which the values of the ranks are summed. It is that of a binary tree over the rank
/// numbers, so that the bits do not depend on how the ranks are spread over nodes. A tree of n
/// ranks consists of a tree of the first m, where m is the largest power of two below n, and a tree
/// of the rest.
///
/// A node sums the largest subtrees whose ranks are all on it; each of these parts is sent to the
/// other nodes. If every node has the same number of ranks, a power of two, in the order of nodes
/// (mpirun's default placement), there is one part per node.
#pragma once

#include <cstdint>
#include <vector>

namespace traffic::comm {

/// Describes the tree for code that takes the sources one by one and keeps a stack of partial sums:
/// after source i it replaces the last two partial sums by their sum, merges[i] times. The merges
/// {0, 1, 0, 2} mean (s0 + s1) + (s2 + s3).
using Merges = std::vector<std::uint8_t>;

/// A subtree whose ranks are on one node.
struct SumPart {
  int first_rank = 0;
  int num_ranks = 1;
  int node = 0;
};

struct SumPlan {
  std::vector<SumPart> parts;  ///< parts of all nodes, ascending by rank
  Merges merges;               ///< [parts] how the parts are merged into the total sum
};

SumPlan plan_sum(const std::vector<int>& node_of_rank);

/// Merges of a tree of num_ranks ranks, each of them a source.
Merges tree_merges(int num_ranks);

}  // namespace traffic::comm
