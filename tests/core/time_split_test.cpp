#include "traffic/core/time_split.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <numeric>
#include <vector>

namespace traffic {
namespace {

TEST(TimeSplit, SharesAddUpToOneAndHaveTheirNames) {
  TimeSplit split;
  {
    const auto scope = split.measure(TimeShare::kForward);
    usleep(5000);
  }
  usleep(1000);
  const auto shares = split.shares();
  for (const char* name : {"data", "forward", "backward", "reduce", "optimizer", "simulate",
                           "infer", "learn", "other"}) {
    EXPECT_TRUE(shares.contains(name)) << name;
  }
  const double sum =
      std::accumulate(shares.begin(), shares.end(), 0.0,
                      [](double total, const auto& share) { return total + share.second; });
  EXPECT_NEAR(sum, 1.0, 1e-12);  // rounding of nine additions
  EXPECT_GE(split.seconds(TimeShare::kForward), 0.005);
  EXPECT_GE(split.seconds(TimeShare::kOther), 0.001);
  EXPECT_EQ(split.seconds(TimeShare::kData), 0.0);
}

TEST(TimeSplit, InnerScopePausesTheOuterOne) {
  TimeSplit split;
  {
    const auto backward = split.measure(TimeShare::kBackward);
    usleep(2000);
    {
      const auto reduce = split.measure(TimeShare::kReduce);
      usleep(20'000);
    }
    usleep(2000);
  }
  const double backward_s = split.seconds(TimeShare::kBackward);
  const double reduce_s = split.seconds(TimeShare::kReduce);
  EXPECT_GE(backward_s, 0.004);
  EXPECT_GE(reduce_s, 0.02);
  // The inner time is not counted twice: the sum of all shares is at most the time that passed.
  EXPECT_LE(backward_s + reduce_s, split.total_seconds() + 1e-9);
}

TEST(TimeSplit, StartEndsTheShareBefore) {
  TimeSplit split;
  EXPECT_EQ(split.start(TimeShare::kData), TimeShare::kOther);
  usleep(2000);
  EXPECT_EQ(split.start(TimeShare::kForward), TimeShare::kData);
  const double data_s = split.seconds(TimeShare::kData);
  EXPECT_GE(data_s, 0.002);
  usleep(2000);
  EXPECT_EQ(split.seconds(TimeShare::kData), data_s);
}

TEST(TimeSplit, RunningScopeCounts) {
  TimeSplit split;
  const auto scope = split.measure(TimeShare::kSimulate);
  usleep(2000);
  EXPECT_GE(split.seconds(TimeShare::kSimulate), 0.002);
}

TEST(TimeSplit, TellsItsObserverOfEveryChange) {
  TimeSplit split;
  std::vector<TimeShare> begun;
  split.observe([&](TimeShare share) { begun.push_back(share); });
  {
    const auto outer = split.measure(TimeShare::kLearn);
    const auto inner = split.measure(TimeShare::kReduce);
    EXPECT_FALSE(split.shares().empty());  // looks, changes nothing
  }
  split.observe({});
  split.start(TimeShare::kData);
  EXPECT_EQ(begun, (std::vector{TimeShare::kLearn, TimeShare::kReduce, TimeShare::kLearn,
                                TimeShare::kOther}));
  EXPECT_EQ(split.current(), TimeShare::kData);
}

}  // namespace
}  // namespace traffic
