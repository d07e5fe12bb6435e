#include "train/dqn/row.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <vector>

#include "traffic/core/error.h"

namespace traffic::train::dqn {
namespace {

constexpr RowLayout kLayout{.widths = {.own = 2, .shared = 3, .impact = 0, .conflict = 1},
                            .places = 2};

TEST(Row, SplitsIntoThePartsThatWereWritten) {
  std::vector<float> rows(3 * static_cast<std::size_t>(kLayout.width()), -7.0F);
  const auto row = [&](std::size_t i) {
    return std::span(rows).subspan(i * static_cast<std::size_t>(kLayout.width()),
                                   static_cast<std::size_t>(kLayout.width()));
  };
  const std::vector<float> shared{1, 2, 3};
  RowWriter first(kLayout, std::vector<float>{10}, shared, row(0));
  EXPECT_EQ(first.add_decision(std::vector<float>{4, 5}), 0);
  EXPECT_EQ(first.add_decision(std::vector<float>{6, 7}), 1);
  EXPECT_THROW(first.add_decision(std::vector<float>{8, 9}), Error);
  RowWriter(kLayout, std::vector<float>{20}, shared, row(1));
  RowWriter(kLayout, std::vector<float>{30}, shared, row(2))
      .add_decision(std::vector<float>{0, -1});

  const Rows apart = take_apart(kLayout, torch::tensor(rows).view({3, kLayout.width()}));
  EXPECT_TRUE(torch::equal(apart.conflict, torch::tensor({{10.0F}, {20.0F}, {30.0F}})));
  EXPECT_TRUE(torch::equal(apart.shared, torch::tensor({1.0F, 2.0F, 3.0F}).repeat({3, 1})));
  EXPECT_TRUE(torch::equal(apart.own, torch::tensor({{4.0F, 5.0F}, {6.0F, 7.0F}, {0.0F, -1.0F}})));
  EXPECT_TRUE(torch::equal(apart.state, torch::tensor({0, 0, 2}, torch::kLong)));
  EXPECT_TRUE(torch::equal(apart.place, torch::tensor({0, 1, 0}, torch::kLong)));
  EXPECT_THROW(take_apart(kLayout, torch::zeros({3, 4})), Error);
}

}  // namespace
}  // namespace traffic::train::dqn
