#include "train/monitor/loss_watch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "traffic/core/random.h"

namespace traffic::train {
namespace {

/// Losses like those of a training: they fall, with noise.
std::vector<double> falling(int steps) {
  Rng rng(7);
  std::vector<double> losses;
  for (int i = 0; i < steps; ++i) {
    losses.push_back((2.0 * std::exp(-i / 100.0) + 0.3) * (0.7 + 0.6 * rng.uniform()));
  }
  return losses;
}

TEST(LossWatch, SaysNothingOfALossThatFallsWithNoise) {
  LossWatch watch;
  for (const double loss : falling(1000)) EXPECT_FALSE(watch.add({loss}));
  EXPECT_EQ(watch.num_found(), 0);
}

TEST(LossWatch, FindsEachSpikeOnceAndNamesTheLevel) {
  LossWatch watch;
  std::vector<double> losses = falling(300);
  for (const int at : {100, 101, 102, 200}) losses[static_cast<std::size_t>(at)] = 40;
  std::vector<std::size_t> said;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const auto spike = watch.add({losses[i]});
    if (!spike) continue;
    said.push_back(i);
    EXPECT_EQ(spike->loss, 40);
    EXPECT_GT(spike->level, 0.3);
    EXPECT_LT(spike->level, 2.0);
  }
  EXPECT_EQ(said, (std::vector<std::size_t>{100, 200}));
  EXPECT_EQ(watch.num_found(), 4);
}

TEST(LossWatch, FindsSpikesOfANegativeLoss) {
  LossWatch watch;
  for (int i = 0; i < 30; ++i) EXPECT_FALSE(watch.add({-1.0 + 0.01 * (i % 3)}));
  EXPECT_FALSE(watch.add({-0.9}));
  EXPECT_TRUE(watch.add({2.0}));
}

TEST(LossWatch, AChangeOfTheStageIsNoSpike) {
  LossWatch watch;
  for (int i = 0; i < 60; ++i) EXPECT_FALSE(watch.add({.value = 0.1, .stage = 1}));
  for (int i = 0; i < 60; ++i) EXPECT_FALSE(watch.add({.value = 50, .stage = 2}));
  EXPECT_TRUE(watch.add({.value = 500, .stage = 2}));
}

TEST(LossWatch, ALossThatStaysHighIsTheNewLevel) {
  LossWatch watch;
  int said = 0;
  for (int i = 0; i < 200; ++i) said += watch.add({i < 50 ? 1.0 : 10.0}) ? 1 : 0;
  EXPECT_EQ(said, 1);
  EXPECT_LT(watch.num_found(), 50);
}

TEST(LossWatch, LossesThatAreNotFiniteAreNoSpikes) {
  LossWatch watch;
  for (int i = 0; i < 30; ++i) (void)watch.add({1.0});
  EXPECT_FALSE(watch.add({std::numeric_limits<double>::infinity()}));
  EXPECT_FALSE(watch.add({std::nan("")}));
}

}  // namespace
}  // namespace traffic::train
