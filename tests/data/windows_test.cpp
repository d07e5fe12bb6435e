#include "traffic/data/windows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "traffic/core/random.h"

namespace traffic::data {
namespace {

std::vector<float> random_points(std::size_t n, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> xy;
  for (std::size_t i = 0; i < n; ++i) {
    xy.push_back(static_cast<float>(rng.uniform(0, 1000)));
    xy.push_back(static_cast<float>(rng.uniform_int(4)) * 3.2F);
  }
  return xy;
}

TEST(Crops, EveryVehicleIsInExactlyOneOfTheSmallestNumberOfCrops) {
  for (const std::int64_t limit : {1, 3, 16}) {
    for (std::size_t n = 1; n < 140; ++n) {
      const auto xy = random_points(n, n);
      const std::int64_t crops = num_crops(static_cast<std::int64_t>(n), limit);
      EXPECT_EQ(crops, (static_cast<std::int64_t>(n) + limit - 1) / limit);
      std::set<std::int32_t> seen;
      std::size_t smallest = n;
      std::size_t largest = 0;
      for (std::int64_t c = 0; c < crops; ++c) {
        const auto nodes = crop_nodes(xy, limit, c);
        ASSERT_LE(nodes.size(), static_cast<std::size_t>(limit));
        ASSERT_TRUE(std::is_sorted(nodes.begin(), nodes.end()));
        smallest = std::min(smallest, nodes.size());
        largest = std::max(largest, nodes.size());
        for (const auto node : nodes) ASSERT_TRUE(seen.insert(node).second);
      }
      ASSERT_EQ(seen.size(), n);
      ASSERT_LE(largest - smallest, 2U);
    }
  }
}

TEST(Crops, ARoadIsCutAcrossItsLength) {
  const auto xy = random_points(64, 7);
  float last_end = -1;
  for (std::int64_t c = 0; c < 4; ++c) {
    const auto nodes = crop_nodes(xy, 16, c);
    float low = 1e9F;
    float high = -1e9F;
    for (const auto node : nodes) {
      low = std::min(low, xy[static_cast<std::size_t>(2 * node)]);
      high = std::max(high, xy[static_cast<std::size_t>(2 * node)]);
    }
    EXPECT_GE(low, last_end);
    last_end = high;
  }
}

TEST(Crops, VehiclesAtTheSamePointAreDividedToo) {
  const std::vector<float> xy(2 * 40, 5.0F);
  std::set<std::int32_t> seen;
  for (std::int64_t c = 0; c < 3; ++c) {
    for (const auto node : crop_nodes(xy, 16, c)) EXPECT_TRUE(seen.insert(node).second);
  }
  EXPECT_EQ(seen.size(), 40U);
}

TEST(Anchors, FitHistoryAndHorizonIntoTheEpisode) {
  const WindowOptions options{
      .history_frames = 10, .horizon_frames = 5, .max_vehicles = 16, .stride_frames = 5};
  EXPECT_EQ(num_anchors(14, options), 0);
  EXPECT_EQ(num_anchors(15, options), 1);
  EXPECT_EQ(num_anchors(19, options), 1);
  EXPECT_EQ(num_anchors(20, options), 2);
}

}  // namespace
}  // namespace traffic::data
