#include "comm/sum_plan.h"

#include <gmock/gmock.h>

#include <string>

namespace traffic::comm {
namespace {

using ::testing::ElementsAre;

/// The ranks and the node of each part of the plan, as text: "0-3@0 4-5@1".
std::string parts_of(const std::vector<int>& node_of_rank) {
  std::string text;
  for (const SumPart& part : plan_sum(node_of_rank).parts) {
    text += (text.empty() ? "" : " ") + std::to_string(part.first_rank) + "-" +
            std::to_string(part.first_rank + part.num_ranks - 1) + "@" + std::to_string(part.node);
  }
  return text;
}

TEST(SumPlanTest, ANodeWithAPowerOfTwoOfRanksInOrderIsOnePart) {
  EXPECT_EQ(parts_of({0, 0, 0, 0}), "0-3@0");
  EXPECT_EQ(parts_of({0, 0, 1, 1}), "0-1@0 2-3@1");
  EXPECT_EQ(parts_of({0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}), "0-3@0 4-7@1 8-11@2");
}

TEST(SumPlanTest, AnyOtherNodeHasSeveralParts) {
  EXPECT_EQ(parts_of({0, 0, 0, 1, 1, 1}), "0-1@0 2-2@0 3-3@1 4-5@1");
  EXPECT_EQ(parts_of({0, 1, 0, 1}), "0-0@0 1-1@1 2-2@0 3-3@1");
  EXPECT_EQ(parts_of({0, 0, 1}), "0-1@0 2-2@1");
}

TEST(SumPlanTest, MergesFormTheBinaryTree) {
  EXPECT_THAT(tree_merges(1), ElementsAre(0));
  EXPECT_THAT(tree_merges(3), ElementsAre(0, 1, 1));              // (0 1) 2
  EXPECT_THAT(tree_merges(6), ElementsAre(0, 1, 0, 2, 0, 2));     // ((0 1) (2 3)) (4 5)
  EXPECT_THAT(tree_merges(7), ElementsAre(0, 1, 0, 2, 0, 1, 2));  // ((0 1) (2 3)) ((4 5) 6)
  EXPECT_THAT(plan_sum({0, 0, 1, 1, 2}).merges, ElementsAre(0, 1, 1));
}

}  // namespace
}  // namespace traffic::comm
