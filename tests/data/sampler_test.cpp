#include "traffic/data/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

#include "synthetic.h"
#include "traffic/core/error.h"
#include "traffic/core/random.h"
#include "traffic/data/dataset.h"

namespace traffic::data {
namespace {

using test::TempDir;
using testing::ElementsAre;

class SamplerTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_ = new TempDir;
    // Many episodes, so that there are many blocks.
    std::vector<test::EpisodeSpec> episodes;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      episodes.push_back({{.seed = seed, .frames = 60, .vehicles = 40}});
    }
    episodes.push_back({{.seed = 99, .frames = 15, .vehicles = 8}, Split::kTest});
    test::write_file(*dir_ / "a.h5", episodes);
    const auto reader = std::make_shared<const DatasetReader>(*dir_ / "a.h5");
    const WindowOptions windows{
        .history_frames = 4, .horizon_frames = 3, .max_vehicles = 5, .stride_frames = 2};
    dataset_ = std::make_shared<const Dataset>(std::vector{reader}, Split::kTrain, windows);
    tiny_ = std::make_shared<const Dataset>(std::vector{reader}, Split::kTest, windows);
  }
  static void TearDownTestSuite() {
    dataset_.reset();
    tiny_.reset();
    delete dir_;
  }

  static Sampler make(std::vector<std::int64_t> batch_sizes, bool drop_last, bool shuffle = true,
                      Shards shards = Shards::kMixed) {
    return {dataset_,
            {.batch_sizes = std::move(batch_sizes),
             .shards = shards,
             .shuffle = shuffle,
             .drop_last = drop_last,
             .shuffle_chunks = 3,
             .seed = 7}};
  }

  using Counts = std::map<std::int64_t, int>;  // number of draws of each sample with weight 1

  /// Lets all ranks draw `steps` steps. @return the state after them
  static SamplerState draw(const Sampler& sampler, SamplerState state, std::int64_t steps,
                           Counts& counts) {
    auto& stage = state.stages.back();
    for (std::size_t r = 0; r < stage.batch_sizes.size(); ++r) {
      const EpochShare share = sampler.share(state, static_cast<std::int64_t>(r));
      for (std::int64_t s = stage.steps; s < std::min(share.steps(), stage.steps + steps); ++s) {
        const auto draws = share.draws(s);
        EXPECT_FALSE(draws.empty());
        EXPECT_LE(draws.size(), static_cast<std::size_t>(stage.batch_sizes[r]));
        for (const Draw& d : draws) {
          if (d.weight == 1.0F) ++counts[d.sample];
        }
      }
    }
    stage.steps += steps;
    return state;
  }

  static void expect_each_at_most_once(const Counts& counts, std::int64_t at_least) {
    for (const auto& [sample, count] : counts) {
      ASSERT_EQ(count, 1) << "sample " << sample;
      ASSERT_TRUE(sample >= 0 && sample < dataset_->num_samples());
    }
    EXPECT_GE(static_cast<std::int64_t>(counts.size()), at_least);
  }

  static TempDir* dir_;
  static std::shared_ptr<const Dataset> dataset_;
  static std::shared_ptr<const Dataset> tiny_;
};

TempDir* SamplerTest::dir_ = nullptr;
std::shared_ptr<const Dataset> SamplerTest::dataset_;
std::shared_ptr<const Dataset> SamplerTest::tiny_;

constexpr std::int64_t kAllSteps = 1 << 20;

TEST_F(SamplerTest, EverySampleIsDrawnExactlyOnceInAnEpoch) {
  const std::int64_t samples = dataset_->num_samples();
  for (const bool drop_last : {false, true}) {
    for (const bool shuffle : {false, true}) {
      for (std::size_t ranks = 1; ranks <= 5; ++ranks) {
        const auto sampler = make(std::vector<std::int64_t>(ranks, 7), drop_last, shuffle);
        Counts counts;
        draw(sampler, sampler.start(3), kAllSteps, counts);
        const auto step_size = static_cast<std::int64_t>(7 * ranks);
        const std::int64_t expected = drop_last ? samples / step_size * step_size : samples;
        expect_each_at_most_once(counts, expected);
        EXPECT_EQ(static_cast<std::int64_t>(counts.size()), expected);
      }
    }
  }
}

TEST_F(SamplerTest, ResumingWithOtherRanksDrawsRemainingSamplesOnce) {
  const std::int64_t samples = dataset_->num_samples();
  for (const bool drop_last : {false, true}) {
    for (const std::vector<std::size_t>& ranks :
         {std::vector<std::size_t>{2, 1, 4}, {1, 3, 2}, {3, 3, 1}, {4, 1, 1}}) {
      Counts counts;
      SamplerState state;
      for (std::size_t stage = 0; stage < ranks.size(); ++stage) {
        const auto sampler = make(std::vector<std::int64_t>(ranks[stage], 6), drop_last);
        state = stage == 0 ? sampler.start(2) : sampler.resume(state);
        const bool last = stage + 1 == ranks.size();
        state =
            draw(sampler, state, last ? kAllSteps : 5 + static_cast<std::int64_t>(stage), counts);
      }
      const auto step_size = static_cast<std::int64_t>(6 * ranks.back());
      expect_each_at_most_once(counts, drop_last ? samples - step_size + 1 : samples);
    }
  }
}

TEST_F(SamplerTest, ResumingWithTheSameRanksContinuesTheSameOrder) {
  const auto sampler = make({5, 5}, true);
  SamplerState state = sampler.start(1);
  const EpochShare whole = sampler.share(state, 1);
  state.stages.back().steps = 9;
  const auto saved = SamplerState::decode(state.encode());
  EXPECT_EQ(saved, state);
  const auto resumed = sampler.resume(saved);
  EXPECT_EQ(resumed, state);
  const EpochShare rest = sampler.share(resumed, 1);
  EXPECT_EQ(rest.steps(), whole.steps());
  for (std::int64_t s = 9; s < whole.steps(); ++s) EXPECT_EQ(rest.draws(s), whole.draws(s));
}

TEST_F(SamplerTest, RanksHaveEquallyManyStepsAlsoWithUnequalShares) {
  for (const bool drop_last : {false, true}) {
    const auto sampler = make(rank_batch_sizes(8, 3, std::vector{1.0, 2.0, 5.0}), drop_last);
    const auto state = sampler.start(0);
    const std::int64_t steps = sampler.steps_per_epoch();
    Counts counts;
    for (std::int64_t r = 0; r < 3; ++r) EXPECT_EQ(sampler.share(state, r).steps(), steps);
    draw(sampler, state, kAllSteps, counts);
    expect_each_at_most_once(counts, drop_last ? steps * 24 : dataset_->num_samples());
  }
}

TEST_F(SamplerTest, ARankWithoutSamplesRepeatsOneWithWeightZero) {
  // Each of the 3 ranks draws 1 sample per step. The last step has only one or two samples for the
  // three ranks.
  const auto sampler = make({1, 1, 1}, false);
  const std::int64_t left = dataset_->num_samples() % 3;
  if (left == 0) GTEST_FAIL() << "the number of samples must not be a multiple of 3";
  const auto state = sampler.start(0);
  std::int64_t repeated = 0;
  for (std::int64_t r = 0; r < 3; ++r) {
    const auto share = sampler.share(state, r);
    const auto draws = share.draws(share.steps() - 1);
    ASSERT_EQ(draws.size(), 1U);
    repeated += draws[0].weight == 0.0F ? 1 : 0;
  }
  EXPECT_EQ(repeated, 3 - left);
}

TEST_F(SamplerTest, EpochsAndSeedsDifferAndRepeat) {
  const auto sampler = make({64}, true);
  const auto order = [&](std::int64_t epoch) {
    return sampler.share(sampler.start(epoch), 0).draws(0);
  };
  EXPECT_EQ(order(0), order(0));
  EXPECT_NE(order(0), order(1));
  const Sampler other(dataset_, {.batch_sizes = {64}, .shuffle_chunks = 3, .seed = 8});
  EXPECT_NE(other.share(other.start(0), 0).draws(0), order(0));
}

TEST_F(SamplerTest, WithoutShuffleTheOrderIsThatOfTheData) {
  const auto sampler = make({10}, false, false);
  const auto share = sampler.share(sampler.start(4), 0);
  std::int64_t next = 0;
  for (std::int64_t s = 0; s < share.steps(); ++s) {
    for (const Draw& d : share.draws(s)) EXPECT_EQ(d.sample, next++);
  }
}

/// First and last step that needs each block.
std::map<std::int32_t, std::pair<std::int64_t, std::int64_t>> block_use(const Dataset& dataset,
                                                                        const EpochShare& share) {
  std::map<std::int32_t, std::pair<std::int64_t, std::int64_t>> use;
  for (std::int64_t s = 0; s < share.steps(); ++s) {
    for (const Draw& d : share.draws(s)) {
      const auto [entry, is_new] = use.try_emplace(dataset.locate(d.sample).block, s, s);
      entry->second.second = s;
    }
  }
  return use;
}

TEST_F(SamplerTest, BlocksAreNeededInASlidingWindowOnly) {
  const auto sampler = make({1}, true);
  const auto use = block_use(*dataset_, sampler.share(sampler.start(5), 0));
  std::map<std::int64_t, int> in_use;
  for (const auto& [block, steps] : use) {
    for (std::int64_t s = steps.first; s <= steps.second; ++s) ++in_use[s];
  }
  int most = 0;
  for (const auto& [step, count] : in_use) most = std::max(most, count);
  EXPECT_LE(most, 3 + 1);  // shuffle_chunks blocks, and one that enters the window
  EXPECT_GE(most, 2);      // samples are mixed over blocks
}

TEST_F(SamplerTest, RanksShareFewBlocks) {
  const auto sampler = make({4, 4, 4}, true);
  const auto state = sampler.start(5);
  std::map<std::int32_t, int> ranks_of_block;
  for (std::int64_t r = 0; r < 3; ++r) {
    for (const auto& [block, use] : block_use(*dataset_, sampler.share(state, r))) {
      ++ranks_of_block[block];
    }
  }
  const auto shared = std::count_if(ranks_of_block.begin(), ranks_of_block.end(),
                                    [](const auto& entry) { return entry.second > 1; });
  EXPECT_LE(shared, 2);
}

TEST_F(SamplerTest, ATimeShardIsTheSameStretchInEveryEpoch) {
  for (const bool drop_last : {false, true}) {
    const auto sampler = make({4, 4, 4}, drop_last, true, Shards::kTime);
    std::int64_t begin = 0;
    for (std::int64_t r = 0; r < 3; ++r) {
      std::array<std::set<std::int64_t>, 2> seen;
      std::array<std::vector<Draw>, 2> first;
      for (std::size_t epoch = 0; epoch < 2; ++epoch) {
        const auto share = sampler.share(sampler.start(static_cast<std::int64_t>(epoch)), r);
        first[epoch] = share.draws(0);
        for (std::int64_t s = 0; s < share.steps(); ++s) {
          for (const Draw& d : share.draws(s)) {
            if (d.weight == 1.0F) seen[epoch].insert(d.sample);
          }
        }
      }
      EXPECT_NE(first[0], first[1]);
      // With drop_last each epoch leaves out different samples of the stretch.
      if (!drop_last) {
        EXPECT_EQ(seen[0], seen[1]);
      }
      const std::int64_t end = dataset_->num_samples() * (r + 1) / 3;
      for (const auto& samples : seen) {
        EXPECT_GE(*samples.begin(), begin);
        EXPECT_LT(*samples.rbegin(), end);
      }
      begin = end;
    }
  }
}

TEST_F(SamplerTest, RegionShardsArePartsOfTheRoad) {
  const auto sampler = make({4, 4}, false, true, Shards::kRegion);
  std::array<std::vector<double>, 2> places;
  for (std::size_t r = 0; r < 2; ++r) {
    const auto share = sampler.share(sampler.start(1), static_cast<std::int64_t>(r));
    for (std::int64_t s = 0; s < share.steps(); ++s) {
      for (const Draw& d : share.draws(s)) places[r].push_back(dataset_->region(d.sample));
    }
  }
  EXPECT_LE(*std::max_element(places[0].begin(), places[0].end()),
            *std::min_element(places[1].begin(), places[1].end()));
  EXPECT_LT(*std::min_element(places[0].begin(), places[0].end()), 0.3);
}

/// An index without data, in which each sample has its own place on the road.
class RandomIndex final : public SampleIndex {
 public:
  explicit RandomIndex(Rng& rng) {
    std::int64_t first = 0;
    const auto count = 1 + rng.uniform_int(20);
    for (std::uint64_t b = 0; b < count; ++b) {
      const auto samples = static_cast<std::int64_t>(1 + rng.uniform_int(40));
      blocks_.push_back({.first_sample = first, .num_samples = samples, .decoded_bytes = 1});
      first += samples;
    }
  }
  [[nodiscard]] std::span<const SampleBlock> blocks() const override { return blocks_; }
  [[nodiscard]] double region(std::int64_t sample) const override {
    return static_cast<double>(sample * 7919 % 97) / 97;
  }
  [[nodiscard]] std::uint64_t fingerprint() const override { return blocks_.size(); }
  [[nodiscard]] std::string name() const override { return "made-up samples"; }
  [[nodiscard]] std::string advice_when_empty() const override { return ""; }

 private:
  std::vector<SampleBlock> blocks_;
};

TEST(SamplerProperties, DrawsSamplesOnceForRandomOptionsAndStops) {
  Rng rng(20);
  const auto draw = [&](std::uint64_t most) {
    return static_cast<std::int64_t>(1 + rng.uniform_int(most));
  };
  int tried = 0;
  for (int round = 0; round < 600; ++round) {
    const auto index = std::make_shared<const RandomIndex>(rng);
    const std::int64_t samples = index->num_samples();
    const bool drop_last = rng.uniform() < 0.5;
    const auto shards =
        std::array{Shards::kMixed, Shards::kTime, Shards::kRegion}[rng.uniform_int(3)];
    const std::uint64_t seed = rng.uniform_int(1000);
    std::map<std::int64_t, int> counts;
    SamplerState state;
    std::int64_t step_size = 0;
    // The epoch is read in up to three stages. Each has another number of ranks and other weights.
    const auto stages = draw(3);
    bool ended = false;
    for (std::int64_t stage = 0; stage < stages && !ended; ++stage) {
      const auto ranks = draw(5);
      std::vector<double> weights;
      for (std::int64_t r = 0; r < ranks; ++r) weights.push_back(0.1 + rng.uniform());
      const auto sizes = rank_batch_sizes(draw(9), ranks, weights);
      step_size = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
      if (samples < (drop_last ? step_size : ranks)) break;
      const Sampler sampler(index, {.batch_sizes = sizes,
                                    .shards = shards,
                                    .drop_last = drop_last,
                                    .shuffle_chunks = 1 + static_cast<std::int64_t>(seed % 4),
                                    .seed = seed});
      state = stage == 0 ? sampler.start(round) : sampler.resume(state);
      auto& running = state.stages.back();
      const std::int64_t steps = sampler.share(state, 0).steps();
      const std::int64_t until =
          stage + 1 == stages ? steps : std::min(steps, running.steps + draw(5));
      for (std::int64_t r = 0; r < ranks; ++r) {
        const EpochShare share = sampler.share(state, r);
        ASSERT_EQ(share.steps(), steps) << "all ranks must have equally many steps";
        for (std::int64_t s = running.steps; s < until; ++s) {
          const auto draws = share.draws(s);
          ASSERT_FALSE(draws.empty());
          if (drop_last) {
            ASSERT_EQ(std::ssize(draws), sizes[static_cast<std::size_t>(r)]);
          }
          for (const Draw& d : draws) {
            if (d.weight == 0.0F) {
              ASSERT_EQ(draws.size(), 1U) << "a repeated sample must be alone in its batch";
              continue;
            }
            ASSERT_EQ(++counts[d.sample], 1) << "sample " << d.sample << " of round " << round;
          }
        }
      }
      running.steps = until;
      ended = stage + 1 == stages;
    }
    if (!ended) continue;
    ++tried;
    const auto seen = static_cast<std::int64_t>(counts.size());
    if (drop_last) {
      EXPECT_GT(seen, samples - step_size) << "at most a step may be left out";
    } else {
      EXPECT_EQ(seen, samples);
    }
  }
  EXPECT_GT(tried, 300);
}

TEST_F(SamplerTest, TooFewSamplesAreAnError) {
  const std::int64_t samples = tiny_->num_samples();
  ASSERT_GT(samples, 0);
  const std::vector<std::int64_t> many(static_cast<std::size_t>(samples) + 1, 1);
  EXPECT_THROW(Sampler(tiny_, {.batch_sizes = many, .drop_last = false}), DataError);
  EXPECT_THAT(([&] { Sampler(tiny_, {.batch_sizes = {1000}, .drop_last = true}); }),
              testing::ThrowsMessage<DataError>(testing::HasSubstr("data.drop_last = false")));
  const auto none = std::make_shared<const Dataset>(
      std::vector{std::make_shared<const DatasetReader>(*dir_ / "a.h5")}, Split::kValidation,
      WindowOptions{});
  EXPECT_THAT(
      ([&] { Sampler(none, {.batch_sizes = {1}}); }),
      testing::ThrowsMessage<DataError>(testing::HasSubstr("the validation split has no samples")));
}

TEST_F(SamplerTest, AStateOfOtherOptionsIsRefused) {
  const auto sampler = make({4}, true);
  const Sampler other(dataset_, {.batch_sizes = {4}, .shuffle_chunks = 9, .seed = 7});
  EXPECT_THROW(static_cast<void>(other.resume(sampler.start(0))), DataError);
}

TEST_F(SamplerTest, ADamagedStateIsRefused) {
  const auto numbers = make({4, 4}, true).start(0).encode();
  for (std::size_t size = 0; size < numbers.size(); ++size) {
    EXPECT_THROW(SamplerState::decode(std::span(numbers).first(size)), DataError) << size;
  }
  auto negative = numbers;
  negative[3] = -1;
  EXPECT_THROW(SamplerState::decode(negative), DataError);
}

TEST(RankBatchSizes, FollowTheWeightsAndKeepTheTotal) {
  EXPECT_THAT(rank_batch_sizes(32, 3, {}), ElementsAre(32, 32, 32));
  EXPECT_THAT(rank_batch_sizes(32, 2, std::vector{1.0, 1.0}), ElementsAre(32, 32));
  const auto sizes = rank_batch_sizes(32, 3, std::vector{1.0, 2.0, 100.0});
  EXPECT_EQ(sizes[0] + sizes[1] + sizes[2], 96);
  EXPECT_GE(*std::min_element(sizes.begin(), sizes.end()), 1);
  EXPECT_GT(sizes[2], 85);
}

TEST(RankBatchSizes, RefuseWeightsThatDoNotMatchTheRanks) {
  EXPECT_THROW(rank_batch_sizes(32, 3, std::vector{1.0, 2.0}), ConfigError);
  EXPECT_THROW(rank_batch_sizes(32, 2, std::vector{1.0, 0.0}), ConfigError);
  EXPECT_THROW(rank_batch_sizes(32, 2, std::vector{1.0, std::nan("")}), ConfigError);
}

}  // namespace
}  // namespace traffic::data
