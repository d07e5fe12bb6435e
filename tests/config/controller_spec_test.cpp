#include "traffic/config/controller_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "traffic/core/error.h"

namespace traffic::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string error_of(std::string_view text) {
  try {
    parse_controller(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ControllerSpec, ReadsParametersAndUsesDefaultsForTheOthers) {
  const ControllerSpec spec = parse_controller(" yield( lead_s = 12 ,top=10) ");
  EXPECT_EQ(spec.name, "yield");
  EXPECT_EQ(spec.get("lead_s"), 12);
  EXPECT_EQ(spec.get("top"), 10);
  EXPECT_EQ(spec.get("to_m"), 200);
  EXPECT_EQ(spec.text(), "yield(lead_s=12, top=10)");
  EXPECT_EQ(parse_controller(spec.text()).text(), spec.text());
  EXPECT_EQ(parse_controller("meter").text(), "meter");
  EXPECT_EQ(parse_controller("meter()").text(), "meter");
}

TEST(ControllerSpec, ErrorsNameTheMistakeAndTheValidNames) {
  EXPECT_THAT(error_of("metre"),
              AllOf(HasSubstr("known are none, random, meter"), HasSubstr("did you mean 'meter'")));
  EXPECT_THAT(error_of("yield(lead=12)"),
              HasSubstr("yield has no parameter 'lead'; it has from_m, to_m, lead_s"));
  EXPECT_THAT(error_of("none(top=1)"), HasSubstr("it has none"));
  EXPECT_THAT(error_of("meter(density=-1)"), HasSubstr("density is '-1', expected a number > 0"));
  EXPECT_THAT(error_of("meter(density=thirty)"), HasSubstr("density is 'thirty'"));
  EXPECT_THAT(error_of("meter(density)"), HasSubstr("density is ''"));
  EXPECT_THAT(error_of("meter(density=20"), HasSubstr("expected NAME(parameter=value, ...)"));
  EXPECT_THAT(error_of(""), HasSubstr("there is no controller ''"));
}

TEST(ControllerSpec, AControllerOfVehiclesAndLightsIsSplitAtThePlus) {
  EXPECT_THAT(controller_parts("greedy + yield(lead_s=12)"),
              ElementsAre("greedy", "yield(lead_s=12)"));
  EXPECT_THAT(controller_parts("checkpoint:a+b.h5,sampled+greedy"),
              ElementsAre("checkpoint:a+b.h5,sampled", "greedy"));
  EXPECT_THAT(controller_parts("greedy+checkpoint:best.h5"),
              ElementsAre("greedy", "checkpoint:best.h5"));
  EXPECT_THAT(controller_parts("meter(density=1e+2)"), ElementsAre("meter(density=1e+2)"));
}

TEST(ControllerSpec, KnowsWhichCommandsAPolicyNeedsToImitateAScript) {
  EXPECT_THAT(commands_of(parse_controller("meter")), ElementsAre("stop"));
  EXPECT_THAT(commands_of(parse_controller("meter(speed_mps=3)")), ElementsAre("slow"));
  EXPECT_THAT(commands_of(parse_controller("yield")), ElementsAre("arrive_late"));
  EXPECT_THAT(commands_of(parse_controller("sort")), ElementsAre("left", "right"));
  EXPECT_THAT(commands_of(parse_controller("glide")), ElementsAre("arrive_green", "fast"));
  EXPECT_EQ(refuse_to_imitate("brisk(top=10)"), "");
  EXPECT_EQ(refuse_to_imitate("none"), "");
  EXPECT_THAT(refuse_to_imitate("random"), HasSubstr("no commands that could be learned"));
}

}  // namespace
}  // namespace traffic::config
