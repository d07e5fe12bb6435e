#include "traffic/rl/segments.h"

#include <gtest/gtest.h>

#include <cmath>

#include "helpers.h"
#include "traffic/core/error.h"

namespace traffic::rl {
namespace {

using testing::f64;
using testing::i64;

TEST(Segments, GiveTheSegmentOfEachRowAndItsStart) {
  const Segments segments(i64({0, 2, 2, 5}));
  EXPECT_EQ(segments.count(), 3);
  EXPECT_EQ(segments.rows(), 5);
  EXPECT_TRUE(torch::equal(segments.index(), i64({0, 0, 2, 2, 2})));
  EXPECT_TRUE(torch::equal(segments.starts(), i64({0, 2, 2})));
  EXPECT_TRUE(torch::equal(segments.sizes(), i64({2, 0, 3})));
}

TEST(Segments, SumMaximumAndExpand) {
  const Segments segments(i64({0, 2, 2, 5}));
  const torch::Tensor x = f64({1, 2, -3, -4, -5});
  EXPECT_TRUE(torch::equal(segments.sum(x), f64({3, 0, -12})));
  EXPECT_TRUE(torch::equal(segments.max(x, -99), f64({2, -99, -3})));
  EXPECT_TRUE(torch::equal(segments.expand(f64({7, 8, 9})), f64({7, 7, 9, 9, 9})));
}

TEST(Segments, ArgmaxIsTheFirstRowOfTheLargest) {
  const Segments segments(i64({0, 2, 2, 5}));
  EXPECT_TRUE(torch::equal(segments.argmax(f64({1, 2, -3, -4, -3})), i64({1, 5, 2})));
}

TEST(Segments, SumHasTheGradientOfASum) {
  const Segments segments(i64({0, 2, 2, 5}));
  const auto f = [&](const torch::Tensor& x) {
    return (segments.sum(x.square()) * f64({1, 2, 3})).sum();
  };
  testing::expect_gradient(f, f64({1, 2, -3, 0.5, -0.7}));
}

TEST(Segments, LogSoftmaxOfVeryNegativeLogitsIsFinite) {
  const Segments segments(i64({0, 2, 2, 3}));
  const torch::Tensor x = f64({-1000, -1001, -800});
  const double log_sum = std::log(1.0 + std::exp(-1.0));
  EXPECT_TRUE(torch::allclose(segments.log_softmax(x), f64({-log_sum, -1.0 - log_sum, 0.0})));
  const auto f = [&](const torch::Tensor& y) {
    return (segments.log_softmax(y) * f64({1, 2, 3})).sum();
  };
  testing::expect_gradient(f, f64({0.5, -0.7, 2}));
}

TEST(Segments, AcceptNoSegmentsAtAll) {
  const Segments none(i64({0}));
  EXPECT_EQ(none.count(), 0);
  const Segments two_empty(i64({0, 0, 0}));
  EXPECT_TRUE(torch::equal(two_empty.sum(f64({})), f64({0, 0})));
}

TEST(Segments, RefuseAnInvalidPointer) {
  EXPECT_THROW(Segments(i64({1, 2})), ShapeError);
  EXPECT_THROW(Segments(i64({0, 3, 2})), ShapeError);
  EXPECT_THROW(Segments(f64({0, 1})), ShapeError);
  EXPECT_THROW(Segments(torch::Tensor()), ShapeError);
  EXPECT_THROW(Segments(i64({})), ShapeError);
}

TEST(SelectSegments, PacksTheChosenSegmentsInTheGivenOrder) {
  const Segments segments(i64({0, 2, 2, 5}));
  const SegmentSubset subset = select_segments(segments, i64({2, 1, 0, 2}));
  EXPECT_TRUE(torch::equal(subset.segments.ptr(), i64({0, 3, 3, 5, 8})));
  EXPECT_TRUE(torch::equal(subset.rows, i64({2, 3, 4, 0, 1, 2, 3, 4})));
  EXPECT_EQ(select_segments(segments, i64({})).segments.count(), 0);
}

TEST(SelectSegments, RefusesASegmentThatDoesNotExist) {
  const Segments segments(i64({0, 2}));
  EXPECT_THROW(select_segments(segments, i64({1})), ShapeError);
  EXPECT_THROW(select_segments(segments, i64({-1})), ShapeError);
}

}  // namespace
}  // namespace traffic::rl
