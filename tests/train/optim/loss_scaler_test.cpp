#include "train/optim/loss_scaler.h"

#include <gtest/gtest.h>

#include "traffic/core/error.h"

namespace traffic::train {
namespace {

config::LossScale options() {
  config::LossScale options;
  options.initial = 1024;
  options.growth_interval = 3;
  options.hysteresis = 2;
  options.min = 256;
  options.max = 4096;
  return options;
}

void update(LossScaler& scaler, std::initializer_list<bool> overflows) {
  for (const bool overflow : overflows) scaler.update(overflow);
}

TEST(LossScaler, GrowsAfterAnIntervalWithoutOverflowUpToTheMaximum) {
  LossScaler scaler(options());
  update(scaler, {false, false});
  EXPECT_EQ(scaler.scale(), 1024);
  update(scaler, {false});
  EXPECT_EQ(scaler.scale(), 2048);
  for (int i = 0; i < 30; ++i) scaler.update(false);
  EXPECT_EQ(scaler.scale(), 4096);
}

TEST(LossScaler, BacksOffAfterHysteresisOverflowsInARow) {
  LossScaler scaler(options());
  update(scaler, {true});
  EXPECT_EQ(scaler.scale(), 1024);
  update(scaler, {false, true});
  EXPECT_EQ(scaler.scale(), 1024) << "a step without overflow interrupted the row of overflows";
  update(scaler, {true});
  EXPECT_EQ(scaler.scale(), 512);
  update(scaler, {true});
  EXPECT_EQ(scaler.scale(), 256) << "each further overflow must halve the scale";
  EXPECT_FALSE(scaler.can_back_off());
  update(scaler, {true});
  EXPECT_EQ(scaler.scale(), 256);
}

TEST(LossScaler, WithoutHysteresisBehavesLikeTorchGradScaler) {
  config::LossScale o = options();
  o.hysteresis = 1;
  LossScaler scaler(o);
  update(scaler, {false, false, true});
  EXPECT_EQ(scaler.scale(), 512);
  update(scaler, {false, false});
  EXPECT_EQ(scaler.scale(), 512) << "an overflow must start the interval anew";
  update(scaler, {false});
  EXPECT_EQ(scaler.scale(), 1024);
}

TEST(LossScaler, AStaticScaleNeverChanges) {
  config::LossScale o = options();
  o.strategy = "static";
  LossScaler scaler(o);
  EXPECT_EQ(scaler.scale(), 8192);
  update(scaler, {true, true, true, false, false, false});
  EXPECT_EQ(scaler.scale(), 8192);
  EXPECT_FALSE(scaler.can_back_off());
}

TEST(LossScaler, ContinuesFromItsStateAsIfNeverStopped) {
  LossScaler whole(options());
  LossScaler first(options());
  const std::initializer_list<bool> before = {false, false, true};
  const std::initializer_list<bool> after = {true, false, false, false, false};
  update(whole, before);
  update(first, before);
  LossScaler resumed(options());
  resumed.restore(first.state());
  for (const bool overflow : after) {
    whole.update(overflow);
    resumed.update(overflow);
    EXPECT_EQ(resumed.scale(), whole.scale());
  }
  EXPECT_EQ(resumed.state().overflows, 2);
}

TEST(LossScaler, IsOneIfTheFormatNeedsNoScale) {
  LossScaler scaler;
  update(scaler, {true, true, false});
  EXPECT_EQ(scaler.scale(), 1.0);
}

TEST(LossScaler, RefusesAnUnknownStrategy) {
  config::LossScale o;
  o.strategy = "manual";
  EXPECT_THROW(LossScaler{o}, ConfigError);
}

}  // namespace
}  // namespace traffic::train
