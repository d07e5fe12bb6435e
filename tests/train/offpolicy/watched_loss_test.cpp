#include <gtest/gtest.h>

#include "offpolicy/updates.h"

namespace traffic::train::offpolicy {
namespace {

TEST(WatchedLoss, IsTheMeanLossIfThereWasAnUpdate) {
  const report::NamedValues figures{{"train/grad_norm", 3.0}, {"train/loss", 0.25}};
  const auto loss = watched_loss(figures);
  ASSERT_TRUE(loss.has_value());
  EXPECT_EQ(loss->value, 0.25);
  EXPECT_FALSE(watched_loss({{"train/epsilon", 1.0}}).has_value());
}

}  // namespace
}  // namespace traffic::train::offpolicy
