#include "traffic/replay/replay.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "replay/streams.h"
#include "traffic/core/error.h"

namespace traffic::replay {
namespace {

constexpr SegmentShape kShape{.steps = 8, .streams = 3, .obs_dim = 2, .action_dim = 1};
constexpr std::int64_t kEpisode = 11;
constexpr Returns kReturns{.n_step = 3, .gamma = 0.5};

/// Compares each transition with the definition of the streams.
void expect_true(const Batch& batch, const Streams& streams) {
  for (std::size_t i = 0; i < batch.actions.size(); ++i) {
    const auto t = static_cast<std::int64_t>(batch.obs[2 * i]);
    const auto s = static_cast<std::int64_t>(batch.obs[2 * i + 1]);
    EXPECT_EQ(batch.actions[i], t % 4);
    EXPECT_EQ(batch.action_vectors[i], static_cast<float>(t % 7));
    double sum = 0.0;
    double discount = 1.0;
    std::int64_t k = 0;
    for (; k < kReturns.n_step && discount > 0.0; ++k) {
      sum += discount * static_cast<double>(t + k);
      discount *= streams.ends(t + k, s) ? 0.0 : kReturns.gamma;
    }
    EXPECT_FLOAT_EQ(batch.returns[i], static_cast<float>(sum)) << "t " << t << " s " << s;
    EXPECT_EQ(batch.discounts[i], static_cast<float>(discount));
    EXPECT_EQ(batch.next_obs[2 * i], static_cast<float>(t + k));
    EXPECT_EQ(batch.next_obs[2 * i + 1], static_cast<float>(s));
  }
}

TEST(Replay, ReturnsAndNextObservationsSpanSegmentsAndEnds) {
  Replay replay({.capacity = 1000, .segment = kShape});
  Streams streams(kShape, kEpisode);
  streams.push_to(replay, 45);
  Batch batch(kShape, 4000);
  Rng rng(1);
  replay.draw(kReturns, rng, batch.rows());
  expect_true(batch, streams);
}

TEST(Replay, DrawsEveryTransitionWhoseStepsAreKnownEquallyOften) {
  Replay replay({.capacity = 1000, .segment = kShape});
  Streams(kShape, kEpisode).push_to(replay, 20);
  EXPECT_EQ(replay.size(), 60);
  EXPECT_EQ(replay.num_drawable(3), 17 * 3);
  constexpr std::size_t kDraws = 51 * 400;
  Batch batch(kShape, kDraws);
  Rng rng(2);
  replay.draw(kReturns, rng, batch.rows());
  std::vector<int> counts(20 * 3);
  for (std::size_t i = 0; i < kDraws; ++i) {
    ++counts[static_cast<std::size_t>(batch.obs[2 * i] * 3 + batch.obs[2 * i + 1])];
  }
  // Each count is expected to be 400 with a standard deviation of 20; the tolerance is five of
  // them.
  for (std::size_t i = 0; i < 51; ++i) EXPECT_NEAR(counts[i], 400, 100) << i;
  for (std::size_t i = 51; i < 60; ++i) EXPECT_EQ(counts[i], 0) << i;
}

/// A stream that observes the time. Its episodes are truncated after some steps.
Replay cut_after(std::int64_t steps, std::int64_t count) {
  Replay replay({.capacity = 1000, .segment = {.steps = 8, .streams = 1, .obs_dim = 1}});
  for (std::int64_t t = 0; t < count; ++t) {
    const auto time = static_cast<float>(t);
    const std::uint8_t action = 0;
    const std::uint8_t end = t % steps == steps - 1 ? kTruncated : kGoesOn;
    replay.push({.obs = {&time, 1},
                 .actions = {&action, 1},
                 .action_vectors = {},
                 .rewards = {&time, 1},
                 .ends = {&end, 1}});
  }
  return replay;
}

TEST(Replay, DrawsNoTransitionWhoseOutcomeIsTruncated) {
  const Replay replay = cut_after(5, 40);
  Batch batch({.steps = 8, .streams = 1, .obs_dim = 1}, 500);
  Rng rng(2);
  replay.draw(kReturns, rng, batch.rows());
  const std::set<float> drawn(batch.obs.begin(), batch.obs.end());
  EXPECT_EQ(drawn.size(), 16U)
      << "in an episode of five steps only the first two have a known step three steps later";
  for (std::size_t i = 0; i < 500; ++i) {
    EXPECT_LT(std::fmod(batch.obs[i], 5.0F), 2.0F);
    EXPECT_EQ(batch.next_obs[i], batch.obs[i] + 3.0F);
    EXPECT_EQ(batch.discounts[i], 0.125F);
  }
  const Replay hidden = cut_after(3, 40);
  EXPECT_THROW(hidden.draw(kReturns, rng, batch.rows()), Error);
}

TEST(Replay, ForgetsWholeSegmentsOldestFirst) {
  Replay replay({.capacity = 72, .segment = kShape});  // three segments
  Streams streams(kShape, kEpisode);
  streams.push_to(replay, 24);
  EXPECT_EQ(replay.size(), 72);
  streams.push_to(replay, 1);
  EXPECT_EQ(replay.size(), 17 * 3);
  streams.push_to(replay, 30);
  Batch batch(kShape, 2000);
  Rng rng(3);
  replay.draw(kReturns, rng, batch.rows());
  expect_true(batch, streams);
  for (std::size_t i = 0; i < 2000; ++i) EXPECT_GE(batch.obs[2 * i], 55 - 24);
}

TEST(Replay, ASegmentThatIsHeldElsewhereStaysUnchanged) {
  Replay replay({.capacity = 48, .segment = kShape});
  Streams streams(kShape, kEpisode);
  streams.push_to(replay, 12);
  const Replay::Segments held = replay.segments();
  const auto first = held[0]->to_bytes();
  const auto last = held[1]->to_bytes();
  streams.push_to(replay, 40);
  EXPECT_EQ(held[0]->to_bytes(), first);
  EXPECT_EQ(held[1]->to_bytes(), last);
}

TEST(Replay, ContinuesToTheBitFromItsSegments) {
  Replay whole({.capacity = 72, .segment = kShape});
  Streams streams(kShape, kEpisode);
  streams.push_to(whole, 29);
  Replay resumed({.capacity = 72, .segment = kShape});
  resumed.restore(whole.segments());
  Streams again = streams;
  streams.push_to(whole, 14);
  again.push_to(resumed, 14);
  Batch expected(kShape, 100);
  Batch found(kShape, 100);
  Rng one(4);
  Rng other(4);
  whole.draw(kReturns, one, expected.rows());
  resumed.draw(kReturns, other, found.rows());
  EXPECT_EQ(found, expected);
  ASSERT_EQ(whole.segments().size(), resumed.segments().size());
  for (std::size_t i = 0; i < whole.segments().size(); ++i) {
    EXPECT_EQ(whole.segments()[i]->to_bytes(), resumed.segments()[i]->to_bytes());
  }
}

TEST(Replay, DrawsNothingAcrossAGap) {
  Replay replay({.capacity = 1000, .segment = kShape});
  Streams streams(kShape, kEpisode);
  streams.push_to(replay, 20);
  replay.begin_anew();  // drops the four steps of the last segment
  EXPECT_EQ(replay.size(), 48);
  streams.skip(100);
  streams.push_to(replay, 20);
  Batch batch(kShape, 3000);
  Rng rng(5);
  replay.draw(kReturns, rng, batch.rows());
  expect_true(batch, streams);
  std::set<float> times;
  for (std::size_t i = 0; i < 3000; ++i) times.insert(batch.obs[2 * i]);
  EXPECT_FALSE(times.contains(13.0F));  // the third step of this transition lies after the gap
  EXPECT_TRUE(times.contains(12.0F));
  EXPECT_TRUE(times.contains(120.0F));
}

TEST(Replay, KeepsTheNewestOfTooManySegments) {
  Replay large({.capacity = 1000, .segment = kShape});
  Streams(kShape, kEpisode).push_to(large, 40);
  Replay small({.capacity = 48, .segment = kShape});
  small.restore(large.segments());
  EXPECT_EQ(small.size(), 48);
  EXPECT_EQ(small.segments().front()->reward(0, 0), 24.0F);
}

TEST(Replay, RefusesToDrawIfThereIsNoTransition) {
  Replay replay({.capacity = 48, .segment = kShape});
  Batch batch(kShape, 4);
  Rng rng(6);
  EXPECT_THROW(replay.draw(kReturns, rng, batch.rows()), Error);
  EXPECT_THROW(replay.draw({.n_step = 8, .gamma = 1.0}, rng, batch.rows()), Error);
}

}  // namespace
}  // namespace traffic::replay
