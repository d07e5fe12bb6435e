// Plans the order in which the values of all ranks are summed (sum_plan.h).
#include "sum_plan.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace traffic::comm {
namespace {

/// Adds to the plan the subtree of the ranks first, ..., first + count - 1. It becomes one part if
/// these ranks are on one node, otherwise several.
void add_subtree(const std::vector<int>& node_of_rank, int first, int count, SumPlan& plan) {
  const auto begin = node_of_rank.begin() + first;
  if (std::all_of(begin, begin + count, [&](int node) { return node == *begin; })) {
    plan.parts.push_back({.first_rank = first, .num_ranks = count, .node = *begin});
    plan.merges.push_back(0);
    return;
  }
  const int left = static_cast<int>(std::bit_floor(static_cast<unsigned>(count - 1)));
  add_subtree(node_of_rank, first, left, plan);
  add_subtree(node_of_rank, first + left, count - left, plan);
  ++plan.merges.back();
}

}  // namespace

SumPlan plan_sum(const std::vector<int>& node_of_rank) {
  SumPlan plan;
  add_subtree(node_of_rank, 0, static_cast<int>(node_of_rank.size()), plan);
  return plan;
}

Merges tree_merges(int num_ranks) {
  std::vector<int> apart(static_cast<std::size_t>(num_ranks));
  std::iota(apart.begin(), apart.end(), 0);
  return plan_sum(apart).merges;
}

}  // namespace traffic::comm
