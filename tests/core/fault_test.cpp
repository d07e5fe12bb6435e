#include "traffic/core/fault.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "traffic/core/clock.h"
#include "traffic/core/error.h"

namespace traffic::fault {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Fault, ReadsEveryFieldOfEveryPoint) {
  const auto points = parse("train.step:1:20:kill,save:*:*:slow:500");
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].site, "train.step");
  EXPECT_EQ(points[0].rank, 1);
  EXPECT_EQ(points[0].step, 20);
  EXPECT_EQ(points[0].kind, Kind::kKill);
  EXPECT_EQ(points[1].rank, -1);
  EXPECT_EQ(points[1].step, -1);
  EXPECT_EQ(points[1].kind, Kind::kSlow);
  EXPECT_EQ(points[1].number, 500);
  EXPECT_EQ(parse("a:*:p0.25:segv")[0].probability, 0.25);
  EXPECT_EQ(parse("a:*:p0.25:segv")[0].step, -1);
}

TEST(Fault, RefusesPointsThatItCannotRead) {
  for (const char* text :
       {"", "a:0:1", ":0:1:kill", "a:x:1:kill", "a:0:-1:kill", "a:0:1:boom", "a:0:1:kill:5",
        "a:0:1:slow", "a:0:1:slow:x", "a:0:1:kill,", "a:0:1:signal", "a:0:1:signal:0",
        "a:0:1:signal:99", "a:0:p:kill", "a:0:p1.5:kill", "a:0:pnan:kill", "a:p0.5:1:kill"}) {
    EXPECT_THAT([&] { parse(text); }, ThrowsMessage<ConfigError>(HasSubstr("TRAFFIC_FAULT")))
        << text;
  }
}

// The environment is read once, so each case runs in a process of its own.
[[noreturn]] void hit_and_exit(const char* fault, std::int64_t rank, std::int64_t step) {
  if (fault != nullptr) setenv("TRAFFIC_FAULT", fault, 1);
  try {
    switch (hit("train.step", rank, step)) {
      case Action::kNone:
        ::_exit(10);
      case Action::kNan:
        ::_exit(11);
      case Action::kFail:
        ::_exit(12);
      case Action::kHuge:
        ::_exit(13);
    }
  } catch (const ConfigError&) {
    ::_exit(2);
  } catch (const Error&) {
    ::_exit(1);
  }
  ::_exit(99);
}

using ::testing::ExitedWithCode;
using ::testing::KilledBySignal;

TEST(FaultDeathTest, NothingHappensWithoutTheEnvironment) {
  EXPECT_EXIT(hit_and_exit(nullptr, 0, 0), ExitedWithCode(10), "^$");
  EXPECT_EXIT(hit_and_exit("", 0, 0), ExitedWithCode(10), "^$");
}

/// Ends with 0 if about a tenth of the hits acted.
[[noreturn]] void count_hits_and_exit() {
  setenv("TRAFFIC_FAULT", "train.step:*:p0.1:fail", 1);
  int acted = 0;
  for (int i = 0; i < 10'000; ++i) acted += hit("train.step", 0, i) == Action::kFail ? 1 : 0;
  ::_exit(acted > 800 && acted < 1200 ? 0 : 1);  // seven standard deviations
}

TEST(FaultDeathTest, ActsWithAProbability) {
  EXPECT_EXIT(count_hits_and_exit(), ExitedWithCode(0), "fault fail at train.step");
  EXPECT_EXIT(hit_and_exit("train.step:*:p0:fail", 0, 0), ExitedWithCode(10), "");
  EXPECT_EXIT(hit_and_exit("train.step:*:p1:huge", 0, 0), ExitedWithCode(13), "fault huge");
}

TEST(FaultDeathTest, ActsOnlyAtItsSiteRankAndStep) {
  EXPECT_EXIT(hit_and_exit("train.step:1:5:nan", 1, 5), ExitedWithCode(11),
              "fault nan at train.step");
  EXPECT_EXIT(hit_and_exit("train.step:1:5:nan", 0, 5), ExitedWithCode(10), "");
  EXPECT_EXIT(hit_and_exit("train.step:1:5:nan", 1, 4), ExitedWithCode(10), "");
  EXPECT_EXIT(hit_and_exit("other:1:5:nan", 1, 5), ExitedWithCode(10), "");
  EXPECT_EXIT(hit_and_exit("train.step:*:*:nan", 3, 77), ExitedWithCode(11), "");
}

TEST(FaultDeathTest, EveryKindDoesWhatItSays) {
  EXPECT_EXIT(hit_and_exit("train.step:0:0:kill", 0, 0), KilledBySignal(SIGKILL), "armed");
  EXPECT_EXIT(
      {
        std::signal(SIGSEGV, SIG_DFL);  // a sanitizer catches it otherwise
        hit_and_exit("train.step:0:0:segv", 0, 0);
      },
      KilledBySignal(SIGSEGV), "armed");
  EXPECT_EXIT(hit_and_exit("train.step:0:0:throw", 0, 0), ExitedWithCode(1), "armed");
  EXPECT_EXIT(hit_and_exit("train.step:0:0:fail", 0, 0), ExitedWithCode(12), "armed");
  EXPECT_EXIT(hit_and_exit("train.step:0:0:signal:15", 0, 0), KilledBySignal(SIGTERM), "armed");
  EXPECT_EXIT(
      {
        alarm(1);  // ends what would hang for ever
        hit_and_exit("train.step:0:0:hang", 0, 0);
      },
      KilledBySignal(SIGALRM), "armed");
}

TEST(FaultDeathTest, SlowWaitsAtLeastItsTimeAndGoesOn) {
  EXPECT_EXIT(
      {
        setenv("TRAFFIC_FAULT", "train.step:0:*:slow:50", 1);
        const Stopwatch watch;
        const bool went_on = hit("train.step", 0, 3) == Action::kNone;
        ::_exit(went_on && watch.seconds() >= 0.05 ? 10 : 1);
      },
      ExitedWithCode(10), "fault slow");
}

TEST(FaultDeathTest, AnUnreadableEnvironmentIsAConfigError) {
  EXPECT_EXIT(hit_and_exit("train.step:0:0:explode", 0, 0), ExitedWithCode(2), "");
}

}  // namespace
}  // namespace traffic::fault
