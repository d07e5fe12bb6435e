#include "train/search/scripts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "traffic/config/controller_spec.h"

namespace traffic::train {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

sim::NetworkStudy network(bool minor, bool may_yield, int lights) {
  sim::NetworkStudy study;
  study.conflicts = {
      {.id = "c",
       .approaches = {{.edge = "a", .minor = minor},
                      {.edge = "b", .lanes = 2, .major = true, .may_yield = may_yield}}}};
  study.lights = lights;
  study.step_length_s = 0.5;
  return study;
}

TEST(ScriptsToTry, AreThoseThatCanActInTheNetwork) {
  const config::Config config;
  const ScriptsToTry ramp = scripts_to_try(network(true, false, 0), config);
  EXPECT_THAT(ramp.texts, Contains(StartsWith("meter")));
  EXPECT_THAT(ramp.texts, Not(Contains(StartsWith("yield"))));
  EXPECT_THAT(ramp.texts, Not(Contains(StartsWith("glide"))));
  EXPECT_THAT(ramp.texts, Contains(StartsWith("meter(before=1")));
  EXPECT_THAT(ramp.texts, Contains(StartsWith("let_in")));
  EXPECT_THAT(ramp.texts, Contains(StartsWith("vsl(density=30, speed_mps")));
  EXPECT_EQ(ramp.kinds, 5U);
  EXPECT_THAT(ramp.texts, Not(Contains(StartsWith("sort"))))
      << "with vehicles.lane_change the policy has no commands left and right, which sort gives";
  EXPECT_EQ(ramp.step_length_s, 0.5);
  const ScriptsToTry lit = scripts_to_try(network(false, true, 1), config);
  EXPECT_THAT(lit.texts, Not(Contains(StartsWith("meter"))));
  EXPECT_THAT(lit.texts, Not(Contains(StartsWith("let_in"))));
  EXPECT_THAT(lit.texts, Contains(StartsWith("yield")));
  EXPECT_THAT(lit.texts, Contains(StartsWith("glide")));
  EXPECT_EQ(lit.kinds, 4U);
  config::Config lanes;
  lanes.vehicles.lane_change = false;
  EXPECT_THAT(scripts_to_try(network(true, false, 0), lanes).texts, Contains(StartsWith("sort")));
  sim::NetworkStudy single = network(true, false, 0);
  single.conflicts[0].approaches[1].lanes = 1;
  const ScriptsToTry narrow = scripts_to_try(single, lanes);
  EXPECT_THAT(narrow.texts, Not(Contains(StartsWith("sort"))));
  EXPECT_THAT(narrow.texts, Not(Contains(StartsWith("vsl(density=30, speed_mps"))));
  EXPECT_THAT(narrow.texts, Contains(StartsWith("vsl(density=30, inner=0")));
}

TEST(ScriptsToTry, AreScriptsOfLightsWhereOnlyLightsAreTrained) {
  config::Config config;
  config.env.agents = {"lights"};
  const ScriptsToTry tried = scripts_to_try(network(true, true, 1), config);
  EXPECT_EQ(tried.kinds, 4U);
  for (const std::string& text : tried.texts) {
    EXPECT_TRUE(config::sets_signals(text)) << text;
    EXPECT_EQ(config::parse_controller(text).text(), text);
  }
  EXPECT_THAT(tried.texts.front(), StartsWith("retime"));
}

TEST(ScriptsToTry, AreAllDifferentValidAndBeginWithOneOfEachKind) {
  const ScriptsToTry all = scripts_to_try(network(true, true, 1), {});
  auto sorted = all.texts;
  std::ranges::sort(sorted);
  EXPECT_EQ(std::ranges::adjacent_find(sorted), sorted.end());
  std::vector<std::string> first;
  for (std::size_t i = 0; i < all.texts.size(); ++i) {
    const config::ControllerSpec spec = config::parse_controller(all.texts[i]);
    EXPECT_EQ(spec.text(), all.texts[i]);
    if (i < all.kinds) first.push_back(spec.name);
  }
  std::ranges::sort(first);
  EXPECT_THAT(first,
              ::testing::ElementsAre("brisk", "glide", "let_in", "meter", "meter", "vsl", "yield"));
}

TEST(ScriptsToTry, CommandAtMostTopKVehiclesIfTheSearchKeepsIt) {
  config::Config config;
  config.vehicles.top_k = 7;
  std::erase(config.search.decides, "vehicles.top_k");
  for (const std::string& text : scripts_to_try(network(true, true, 1), config).texts) {
    const auto spec = config::parse_controller(text);
    EXPECT_LE(spec.get("top"), 7) << text;
  }
}

}  // namespace
}  // namespace traffic::train
