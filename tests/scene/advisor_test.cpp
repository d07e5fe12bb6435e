#include "traffic/scene/advisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "traffic_fixture.h"

namespace traffic::scene {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace testing;  // NOLINT: the helpers beside this file

constexpr double kControlPeriodS = 3.0;

std::vector<std::uint32_t> vehicles_of(std::span<const Command> commands) {
  std::vector<std::uint32_t> ids;
  for (const Command& command : commands) ids.push_back(command.vehicle_id);
  return ids;
}

/// Three CVs that stand within the reach of `brisk`.
class AdvisorTest : public ::testing::Test {
 protected:
  AdvisorTest() {
    for (const double pos_m : {290.0, 270.0, 250.0}) {
      ids_.push_back(s_.add(kMain, "main_0", pos_m, 0, true));
    }
    s_.step();
  }

  Scene s_{priority_merge().road()};
  std::vector<std::uint32_t> ids_;
};

TEST_F(AdvisorTest, CommandsVehiclesThatFollowedItsAdvice) {
  Advisor advisor(make_controller("brisk(period_s=2)"), kControlPeriodS);
  const auto advice = advisor.advise(s_.state());
  std::vector<Command> decided(advice.begin(), advice.end());
  ASSERT_THAT(vehicles_of(decided), ElementsAre(ids_[0], ids_[1], ids_[2]));
  decided[1].longitudinal =
      Longitudinal::kStop;  // rejects the advice; the third vehicle gets no command
  decided.pop_back();
  for (Command& command : decided) command.hold_s = kControlPeriodS;
  advisor.heed(decided);
  EXPECT_EQ(decided[0].hold_s, 2.0) << "the command must last until the script decides again";
  EXPECT_EQ(decided[1].hold_s, kControlPeriodS);
  s_.step();
  EXPECT_THAT(advisor.go_on(s_.state()), IsEmpty()) << "the script's next decision is not due yet";
  const auto come_since = s_.add(kMain, "main_0", 230, 0, true);
  s_.step();
  const auto more = advisor.go_on(s_.state());
  EXPECT_THAT(vehicles_of(more), ElementsAre(ids_[0], come_since));
  for (const Command& command : more) {
    EXPECT_EQ(command.hold_s, 1.0) << "the command must end with the control period";
  }
}

TEST_F(AdvisorTest, KeepsTheDurationOfCommandsBeyondThePeriod) {
  Advisor advisor(make_controller("brisk"), kControlPeriodS);
  const auto advice = advisor.advise(s_.state());
  std::vector<Command> decided(advice.begin(), advice.end());
  for (Command& command : decided) command.hold_s = 30;
  advisor.heed(decided);
  for (const Command& command : decided) EXPECT_EQ(command.hold_s, 30);
  CommandBook book;
  book.add(decided, s_.state());
  s_.step();
  EXPECT_THAT(advisor.go_on(s_.state()), IsEmpty());
}

TEST_F(AdvisorTest, TreatsATargetSpeedAsTheCommandSlow) {
  Advisor advisor(make_controller("vsl(density=1, speed_mps=4, inner=0)"), kControlPeriodS);
  for (int i = 0; i < 8; ++i) s_.add(kMain, "out_0", 10.0 + 10.0 * i, 3);
  s_.step();
  const auto advice = advisor.advise(s_.state());
  std::vector<Command> decided(advice.begin(), advice.end());
  ASSERT_EQ(decided.size(), 3U);
  for (Command& command : decided) {
    command.longitudinal = Longitudinal::kSlow;
    command.hold_s = kControlPeriodS;
  }
  advisor.heed(decided);
  EXPECT_EQ(decided[0].hold_s, 1.0);
  s_.step();
  EXPECT_THAT(vehicles_of(advisor.go_on(s_.state())), ElementsAre(ids_[0], ids_[1], ids_[2]));
}

}  // namespace
}  // namespace traffic::scene
