#include "train/search/safer_scripts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace traffic::train {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> versions_of(const std::string& text) {
  return safer_scripts(config::parse_controller(text));
}

TEST(SaferScripts, AreOtherControllersOfTheSameKind) {
  for (const std::string text :
       {"meter(density=30)", "vsl(density=30, speed_mps=6, top=50)", "yield(lead_s=12, top=30)",
        "let_in(queue=6, to_m=100, top=50)", "glide(top=200)", "brisk(top=50)", "sort(top=50)"}) {
    const auto versions = versions_of(text);
    ASSERT_GE(versions.size(), 2U) << text;
    EXPECT_THAT(versions, Each(StartsWith(text.substr(0, text.find('(')))));
    EXPECT_THAT(versions, Not(Contains(config::parse_controller(text).text())));
    for (const std::string& version : versions) EXPECT_NO_THROW(config::parse_controller(version));
    EXPECT_EQ(std::set<std::string>(versions.begin(), versions.end()).size(), versions.size());
  }
}

TEST(SaferScripts, BrakeMoreGentlyBeginEarlierOrCommandFewer) {
  const auto versions = versions_of("yield(lead_s=12, to_m=200, top=30)");
  EXPECT_THAT(versions, Contains("yield(brake_mps2=1, lead_s=12, to_m=200, top=30)"));
  EXPECT_THAT(versions, Contains("yield(brake_mps2=1, lead_s=22, to_m=400, top=30)"));
  EXPECT_THAT(versions, Contains("yield(lead_s=12, to_m=200, top=15)"));
}

TEST(SaferScripts, SlowVehiclesDownInsteadOfStoppingThem) {
  EXPECT_THAT(versions_of("meter(density=30)"), Contains("meter(density=30, speed_mps=4)"));
  EXPECT_THAT(versions_of("vsl(speed_mps=6)"), Contains("vsl(speed_mps=9)"));
}

TEST(SaferScripts, DoNotExistForTrafficLights) {
  EXPECT_TRUE(safer_scripts(config::parse_controller("retime(weight=2)")).empty());
}

}  // namespace
}  // namespace traffic::train
