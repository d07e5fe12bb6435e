#include "traffic/core/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <vector>

#include "traffic/core/error.h"
#include "traffic/core/random_streams.h"

namespace traffic {
namespace {

/// Does not compile if a stream is missing here or two streams have the same number.
constexpr bool is_listed(RandomStream stream) {
  switch (stream) {
    case kLoaderStream:
    case kEncoderStream:
    case kWorldModelStream:
    case kControllerStream:
    case kCostCriticStream:
    case kPolicyMinibatchStream:
    case kValueMinibatchStream:
    case kImitationStream:
    case kCostMinibatchStream:
    case kTrafficStream:
    case kSamplingStream:
    case kScenarioStream:
    case kPieceStream:
    case kDemandScaleStream:
    case kLightSamplingStream:
    case kNetworkStream:
    case kGameStream:
    case kOpponentStream:
    case kExplorationStream:
    case kReplayStream:
    case kPastSelfStream:
    case kSelectionGameStream:
    case kDrivingStream:
    case kDrivingLoaderStream:
    case kAnchorStream:
    case kRetryStream:
    case kConnectedStream:
    case kRandomControllerStream:
    case kDecisionStream:
    case kDriverStream:
    case kBlockStream:
    case kSampleStream:
    case kAugmentationStream:
      return true;
  }
  return false;
}

TEST(RandomStreams, HaveANumberEach) {
  EXPECT_TRUE(is_listed(kImitationStream));
  EXPECT_TRUE(is_listed(kCostMinibatchStream));
  EXPECT_FALSE(is_listed(RandomStream{6}));
}

TEST(Rng, SeedsItselfWithThePublishedSplitmix64Sequence) {
  const Rng::State expected{6457827717110365317ULL, 3203168211198807973ULL, 9817491932198370423ULL,
                            4593380528125082431ULL};
  EXPECT_EQ(Rng(1234567).state(), expected);
}

TEST(Rng, DrawsThePublishedXoshiroSequence) {
  Rng rng(0);
  rng.set_state({1, 2, 3, 4});
  for (const std::uint64_t expected :
       {11520ULL, 0ULL, 1509978240ULL, 1215971899390074240ULL, 1216172134540287360ULL}) {
    EXPECT_EQ(rng.next_u64(), expected);
  }
}

TEST(Rng, ContinuesToTheBitFromASavedStateInTheMiddleOfNormals) {
  Rng rng(7);
  for (int i = 0; i < 5; ++i) rng.normal();
  Rng resumed(99);
  resumed.set_state(rng.state());
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(resumed.normal(), rng.normal());
    EXPECT_EQ(resumed.uniform_int(10), rng.uniform_int(10));
  }
}

TEST(Rng, RefusesTheStateThatNeverLeavesZero) {
  Rng rng(1);
  EXPECT_THROW(rng.set_state({0, 0, 0, 0}), Error);
}

TEST(Rng, UniformStaysInTheHalfOpenIntervalWithTheRightMean) {
  Rng rng(3);
  double sum = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double u = rng.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
  }
  // The tolerance is five standard deviations of the mean, each sqrt(1/12/1e5) = 0.0009.
  EXPECT_NEAR(sum / kDraws, 0.5, 0.0046);
}

TEST(Rng, UniformIntReachesEveryValueEquallyOften) {
  Rng rng(5);
  std::array<int, 7> counts{};
  constexpr int kDraws = 70000;
  for (int i = 0; i < kDraws; ++i) ++counts.at(rng.uniform_int(counts.size()));
  // The tolerance is five standard deviations of a count, each sqrt(70000 * 1/7 * 6/7) = 93.
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 7, 465);
}

TEST(Rng, UniformIntIsUnbiasedWhereTheRangeIsNearTheWordSize) {
  Rng rng(6);
  // With n = 3 * 2^62 plain modulo would give the lowest third of values twice as often as the
  // rest.
  constexpr std::uint64_t kN = 3ULL << 62U;
  int lowest_third = 0;
  constexpr int kDraws = 30000;
  for (int i = 0; i < kDraws; ++i) lowest_third += rng.uniform_int(kN) < kN / 3 ? 1 : 0;
  EXPECT_NEAR(lowest_third, kDraws / 3, 410);  // five times sqrt(30000 * 2/9) = 82
}

TEST(Rng, UniformIntOfAnEmptyRangeIsAnError) {
  Rng rng(1);
  EXPECT_THROW(rng.uniform_int(0), Error);
  EXPECT_EQ(rng.uniform_int(1), 0U);
}

TEST(Rng, NormalHasMeanZeroAndVarianceOne) {
  Rng rng(11);
  double sum = 0;
  double squares = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = rng.normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0.0, 0.016);      // five times 1 / sqrt(1e5)
  EXPECT_NEAR(squares / kDraws, 1.0, 0.023);  // five times sqrt(2 / 1e5)
}

TEST(Rng, ShuffleKeepsEveryItemAndRepeatsWithItsSeed) {
  std::vector<int> items(50);
  std::iota(items.begin(), items.end(), 0);
  std::vector<int> again = items;
  Rng(9).shuffle(std::span(items));
  Rng(9).shuffle(std::span(again));
  EXPECT_EQ(items, again);
  EXPECT_FALSE(std::is_sorted(items.begin(), items.end()));
  std::sort(items.begin(), items.end());
  for (int i = 0; i < 50; ++i) EXPECT_EQ(items[static_cast<std::size_t>(i)], i);
}

TEST(DeriveSeed, GivesEveryStreamASeedOfItsOwn) {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t base = 0; base < 4; ++base) {
    seeds.insert(derive_seed(base, {}));
    for (std::uint64_t a = 0; a < 20; ++a) {
      seeds.insert(derive_seed(base, {a}));
      for (std::uint64_t b = 0; b < 20; ++b) seeds.insert(derive_seed(base, {a, b}));
    }
  }
  EXPECT_EQ(seeds.size(), 4U * (1 + 20 + 400));
}

TEST(DeriveSeed, DependsOnTheOrderOfTheStream) {
  EXPECT_NE(derive_seed(1, {2, 3}), derive_seed(1, {3, 2}));
  EXPECT_EQ(derive_seed(1, {2, 3}), derive_seed(1, {2, 3}));
}

}  // namespace
}  // namespace traffic
