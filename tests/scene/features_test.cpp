#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "traffic/core/error.h"
#include "traffic/scene/frame.h"

namespace traffic::scene {
namespace {

TEST(Features, BeginWithTheNineOriginalFeatures) {
  const std::vector<std::string_view> nine = {"position_m", "speed_mps",   "acceleration_mps2",
                                              "lane_index", "remaining_m", "completion",
                                              "is_cv",      "time_sin",    "time_cos"};
  for (std::size_t i = 0; i < nine.size(); ++i) EXPECT_EQ(node_features()[i].name, nine[i]);
}

TEST(Features, HaveUniqueNamesPositiveScalesAndHelp) {
  for (const auto table : {node_features(), edge_features(), global_features()}) {
    std::set<std::string_view> names;
    for (const auto& spec : table) {
      EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
      EXPECT_GT(spec.scale, 0) << spec.name;
      EXPECT_FALSE(spec.help.empty()) << spec.name;
      EXPECT_FALSE(spec.unit.empty()) << spec.name;
    }
  }
  EXPECT_EQ(edge_features().size(), 4U);
  EXPECT_EQ(global_features().size(), 16U);
}

TEST(Features, AreFoundByName) {
  for (std::size_t i = 0; i < node_features().size(); ++i)
    EXPECT_EQ(node_feature_index(node_features()[i].name), static_cast<int>(i));
  EXPECT_THROW(node_feature_index("colour"), Error);
}

}  // namespace
}  // namespace traffic::scene
