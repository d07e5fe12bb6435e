#include "train/rollouts/outcomes.h"

#include <gtest/gtest.h>

namespace traffic::train {
namespace {

std::vector<EpisodeOutcome> with_emergency_stops(const std::vector<std::int64_t>& counts) {
  std::vector<EpisodeOutcome> outcomes;
  for (const std::int64_t count : counts) {
    outcomes.emplace_back();
    outcomes.back().score.emergency_stops = count;
  }
  return outcomes;
}

TEST(SafetyExcess, IsWhatLiesAboveTheUncontrolledBeyondTheInterval) {
  const auto none = with_emergency_stops({0, 1, 0, 0});
  EXPECT_EQ(safety_excess(none, none), 0.0);
  EXPECT_EQ(safety_excess(with_emergency_stops({0, 1, 2, 0}), none), 0.0);
  EXPECT_EQ(safety_excess(with_emergency_stops({0, 0, 0, 0}), none), 0.0);
  // Differences 3, 4, 4, 4: mean 3.75, half width 3.182 * .5 / 2.
  EXPECT_NEAR(safety_excess(with_emergency_stops({3, 5, 4, 4}), none), 3.75 - 0.7956, 1e-3);
}

}  // namespace
}  // namespace traffic::train
