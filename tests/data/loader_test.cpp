#include "traffic/data/traffic_batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <filesystem>
#include <iterator>
#include <map>
#include <set>

#include "synthetic.h"
#include "traffic/core/error.h"

namespace traffic::data {
namespace {

using test::TempDir;

class LoaderTest : public testing::Test {
 protected:
  LoaderTest() {
    std::vector<test::EpisodeSpec> episodes;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      episodes.push_back({{.seed = seed, .frames = 50, .vehicles = 30}});
    }
    test::write_file(dir_ / "a.h5", episodes);
    data_.files = {dir_ / "*.h5"};
    data_.history_frames = 4;
    data_.horizon_frames = 3;
    data_.max_vehicles = 5;
    data_.sample_stride_frames = 3;
    data_.batch_size = 6;
    data_.shuffle_chunks = 3;
    data_.drop_last = false;
    open();
  }

  void open() {
    dataset_ = std::make_shared<const Dataset>(open_data_files(data_).files, Split::kTrain,
                                               window_options(data_));
  }

  [[nodiscard]] std::unique_ptr<TrafficLoader> make(std::int64_t workers, std::int64_t rank = 0,
                                                    std::int64_t ranks = 1) const {
    LoaderOptions options{.data = data_, .seed = 11, .rank = rank, .world_size = ranks};
    options.data.num_workers = workers;
    return std::make_unique<TrafficLoader>(
        traffic_batches(dataset_, batch_options(options.data, options.seed, false)), options);
  }

  static std::vector<Batch> epoch(TrafficLoader& loader, std::int64_t number) {
    loader.start_epoch(number);
    std::vector<Batch> batches;
    while (auto batch = loader.next()) batches.push_back(*batch);
    return batches;
  }

  static void expect_equal(const Batch& a, const Batch& b) {
    EXPECT_TRUE(torch::equal(a.sample_id, b.sample_id));
    EXPECT_TRUE(torch::equal(a.sample_weight, b.sample_weight));
    EXPECT_TRUE(torch::equal(a.node_features, b.node_features));
    EXPECT_TRUE(torch::equal(a.present, b.present));
    EXPECT_TRUE(torch::equal(a.edge_ptr, b.edge_ptr));
    EXPECT_TRUE(torch::equal(a.edge_src, b.edge_src));
    EXPECT_TRUE(torch::equal(a.edge_features, b.edge_features));
    EXPECT_TRUE(torch::equal(a.future_displacement_m, b.future_displacement_m));
    EXPECT_TRUE(torch::equal(a.conflict, b.conflict));
  }

  static void count(const Batch& batch, std::map<std::int64_t, int>& counts) {
    for (std::int64_t b = 0; b < batch.num_samples(); ++b) {
      if (batch.sample_weight[b].item<float>() > 0)
        ++counts[batch.sample_id[b].item<std::int64_t>()];
    }
  }

  void expect_each_once(const std::map<std::int64_t, int>& counts) const {
    EXPECT_EQ(static_cast<std::int64_t>(counts.size()), dataset_->num_samples());
    for (const auto& [sample, times] : counts) ASSERT_EQ(times, 1) << sample;
  }

  TempDir dir_;
  config::Data data_;
  std::shared_ptr<const Dataset> dataset_;
};

TEST_F(LoaderTest, BatchesDoNotDependOnTheNumberOfThreads) {
  data_.augmentation.enabled = true;
  open();
  const auto expected = epoch(*make(0), 2);
  ASSERT_GT(expected.size(), 20U);
  for (const std::int64_t workers : {1, 2, 5}) {
    const auto found = epoch(*make(workers), 2);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) expect_equal(found[i], expected[i]);
  }
}

TEST_F(LoaderTest, EverySampleIsReadOnceOverAllRanksAndThreads) {
  for (const std::int64_t ranks : {1, 2, 3}) {
    for (const std::int64_t workers : {0, 2}) {
      std::map<std::int64_t, int> counts;
      std::size_t steps = 0;
      for (std::int64_t r = 0; r < ranks; ++r) {
        const auto batches = epoch(*make(workers, r, ranks), 0);
        if (r == 0) steps = batches.size();
        EXPECT_EQ(batches.size(), steps);
        for (const auto& batch : batches) count(batch, counts);
      }
      expect_each_once(counts);
    }
  }
}

TEST_F(LoaderTest, AResumedRunGetsTheBatchesOfAnUninterruptedRun) {
  const auto whole = epoch(*make(1), 3);
  SamplerState saved;
  {
    const auto loader = make(2);
    loader->start_epoch(3);
    for (int i = 0; i < 7; ++i) expect_equal(*loader->next(), whole[static_cast<std::size_t>(i)]);
    saved = SamplerState::decode(loader->state().encode());
  }
  const auto loader = make(1);
  loader->restore(saved);
  EXPECT_EQ(loader->steps_left(), static_cast<std::int64_t>(whole.size()) - 7);
  for (std::size_t i = 7; i < whole.size(); ++i) expect_equal(*loader->next(), whole[i]);
  EXPECT_FALSE(loader->next().has_value());
}

TEST_F(LoaderTest, ResumingWithOtherRanksReadsTheRestOnce) {
  std::map<std::int64_t, int> counts;
  SamplerState state;
  for (std::int64_t r = 0; r < 2; ++r) {
    const auto loader = make(1, r, 2);
    loader->start_epoch(1);
    for (int i = 0; i < 5; ++i) count(*loader->next(), counts);
    state = loader->state();
  }
  for (std::int64_t r = 0; r < 3; ++r) {
    const auto loader = make(1, r, 3);
    loader->restore(state);
    while (auto batch = loader->next()) count(*batch, counts);
  }
  expect_each_once(counts);
}

TEST_F(LoaderTest, ANewEpochMayBeginBeforeTheOldOneEnds) {
  const auto loader = make(2);
  loader->start_epoch(0);
  expect_equal(*loader->next(), epoch(*make(0), 0)[0]);
  const auto expected = epoch(*make(0), 1);
  const auto found = epoch(*loader, 1);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) expect_equal(found[i], expected[i]);
}

TEST_F(LoaderTest, ABlockIsDecodedOncePerEpochWithASmallCache) {
  std::vector<test::EpisodeSpec> episodes;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    episodes.push_back({{.seed = seed, .frames = 60, .vehicles = 80}});
  }
  test::write_file(dir_ / "a.h5", episodes);
  open();
  std::int64_t bytes = 0;
  for (const auto& block : dataset_->blocks()) bytes += block.decoded_bytes;
  data_.cache_mb = bytes / 1024 / 1024 / 2;  // half of the data
  ASSERT_GE(data_.cache_mb, 1);
  const auto loader = make(2);
  epoch(*loader, 0);
  const auto blocks = static_cast<std::int64_t>(dataset_->blocks().size());
  EXPECT_EQ(loader->blocks_decoded(), blocks);
  epoch(*loader, 1);
  // A new epoch begins with the blocks that the cache still holds.
  EXPECT_GT(loader->blocks_decoded(), blocks + blocks / 4);
  EXPECT_LE(loader->blocks_decoded(), 2 * blocks);
}

TEST_F(LoaderTest, WithoutPersistentWorkersAnEpochFreesItsCache) {
  data_.persistent_workers = false;
  const auto loader = make(2);
  const auto expected = epoch(*loader, 0);
  const std::int64_t decoded = loader->blocks_decoded();
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  const auto running = threads();
  loader->end_epoch();
  EXPECT_EQ(threads(), running - 2);
  const auto found = epoch(*loader, 0);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) expect_equal(found[i], expected[i]);
  EXPECT_EQ(loader->blocks_decoded(), 2 * decoded) << "all blocks must be decoded again";

  data_.persistent_workers = true;
  const auto kept = make(2);
  epoch(*kept, 0);
  const auto still_running = threads();
  kept->end_epoch();
  EXPECT_EQ(threads(), still_running);
  epoch(*kept, 0);
  EXPECT_EQ(kept->blocks_decoded(), decoded);
}

TEST_F(LoaderTest, NewSharesOfTheRanksApplyFromTheNextEpochOn) {
  std::map<std::int64_t, int> before;
  std::map<std::int64_t, int> after;
  for (std::int64_t r = 0; r < 2; ++r) {
    const auto loader = make(1, r, 2);
    loader->start_epoch(0);
    loader->set_rank_weights(std::vector{1.0, 2.0});
    while (const auto batch = loader->next()) {
      EXPECT_LE(batch->num_samples(), 6);
      count(*batch, before);
    }
    loader->start_epoch(1);
    EXPECT_EQ(loader->next()->num_samples(), r == 0 ? 4 : 8);
    loader->start_epoch(1);  // restarts the epoch at its first batch
    while (const auto batch = loader->next()) count(*batch, after);
    EXPECT_THROW(loader->set_rank_weights(std::vector{1.0}), ConfigError);
  }
  expect_each_once(before);
  expect_each_once(after);
}

TEST_F(LoaderTest, LaterDamageIsAnErrorOfNext) {
  std::string bytes = test::read_bytes(dir_ / "a.h5");
  const auto loader = make(2);
  for (std::size_t at = bytes.size() / 8; at < bytes.size() * 7 / 8; at += 4096) bytes[at] ^= 1;
  test::write_bytes(dir_ / "a.h5", bytes);
  EXPECT_THAT([&] { epoch(*loader, 0); },
              testing::ThrowsMessage<DataError>(testing::HasSubstr("a.h5: column")));
}

TEST_F(LoaderTest, DamageUpToTheAllowedShareIsReplacedByOtherSamples) {
  for (const std::uint64_t seed : {11, 12, 13}) {
    test::write_file(dir_ / (std::to_string(seed) + ".h5"),
                     {{{.seed = seed, .frames = 50, .vehicles = 30}}, {{.seed = seed + 10}}});
  }
  test::write_file(dir_ / "a.h5", {{{.seed = 1, .frames = 50, .vehicles = 30}}});
  data_.max_bad_file_share = 0.4;
  open();
  const auto clean = epoch(*make(0), 0);
  const auto damage = [&](const char* name) {
    std::string bytes = test::read_bytes(dir_ / name);
    for (std::size_t at = bytes.size() / 8; at < bytes.size() * 7 / 8; at += 512) bytes[at] ^= 1;
    test::write_bytes(dir_ / name, bytes);
  };
  const auto loader = make(2);
  damage("a.h5");
  const auto batches = epoch(*loader, 0);
  EXPECT_GT(loader->num_bad_blocks(), 0);
  const auto messages = loader->take_damage();
  ASSERT_EQ(messages.size(), static_cast<std::size_t>(loader->num_bad_blocks()));
  EXPECT_THAT(messages.front(), testing::HasSubstr("a.h5: column"));
  EXPECT_TRUE(loader->take_damage().empty());
  ASSERT_EQ(batches.size(), clean.size()) << "damage must not change the number of steps";
  int replaced = 0;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    ASSERT_EQ(batches[b].num_samples(), clean[b].num_samples());
    if (!torch::equal(batches[b].sample_id, clean[b].sample_id)) ++replaced;
  }
  EXPECT_GT(replaced, 0);
  // The replacements are the same without threads and in a second reading.
  const auto again = epoch(*make(0), 0);
  for (std::size_t b = 0; b < batches.size(); ++b) expect_equal(again[b], batches[b]);
  for (const char* name : {"11.h5", "12.h5"}) damage(name);
  EXPECT_THAT([&] { epoch(*make(2), 0); },
              testing::ThrowsMessage<DataError>(testing::HasSubstr("allows a share of 0.4")));
}

TEST_F(LoaderTest, NextRepeatsAnErrorWhenItIsCalledAgain) {
  std::string bytes = test::read_bytes(dir_ / "a.h5");
  for (const std::int64_t workers : {0, 2}) {
    open();
    const auto loader = make(workers);
    std::string damaged = bytes;
    for (std::size_t at = bytes.size() / 8; at < bytes.size() * 7 / 8; at += 4096) damaged[at] ^= 1;
    test::write_bytes(dir_ / "a.h5", damaged);
    EXPECT_THROW(epoch(*loader, 0), DataError);
    const SamplerState state = loader->state();
    for (int i = 0; i < 3; ++i) EXPECT_THROW(static_cast<void>(loader->next()), DataError);
    EXPECT_EQ(loader->state(), state);
    test::write_bytes(dir_ / "a.h5", bytes);
    loader->restore(state);
    EXPECT_TRUE(loader->next().has_value()) << "after the repair the block must be read again";
  }
}

TEST_F(LoaderTest, AFileReplacedDuringReadingKeepsItsContent) {
  const auto expected = epoch(*make(0), 0);
  const auto loader = make(1);
  test::write_file(dir_ / "other.h5", {{{.seed = 77, .frames = 50}}});
  std::filesystem::rename(dir_ / "other.h5", dir_ / "a.h5");
  const auto found = epoch(*loader, 0);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) expect_equal(found[i], expected[i]);
}

TEST_F(LoaderTest, UnreadableFilesAreSkippedUpToTheAllowedShare) {
  test::write_bytes(dir_ / "b.h5", "broken");
  EXPECT_THROW(open_data_files(data_), DataError);
  data_.max_bad_file_share = 0.3;
  EXPECT_THROW(open_data_files(data_), DataError);
  data_.max_bad_file_share = 0.5;
  const auto opened = open_data_files(data_);
  EXPECT_EQ(opened.files.size(), 1U);
  EXPECT_THAT(opened.skipped, testing::ElementsAre(testing::HasSubstr("b.h5")));
}

TEST_F(LoaderTest, ATooSmallCacheIsRefusedWithTheNeededSize) {
  data_.cache_mb = 0;
  EXPECT_THAT([&] { static_cast<void>(make(1)); },
              testing::ThrowsMessage<ConfigError>(testing::HasSubstr("data.cache_mb is 0")));
}

TEST_F(LoaderTest, FilesOfOtherFeaturesAreRefused) {
  FileInfo info = test::test_info();
  info.node_features[4].unit = "km";
  {
    DatasetWriter writer(dir_ / "b.h5", info, {});
    writer.begin_episode({.seed = 1});
    writer.append(test::make_traffic({.seed = 1})[0]);
    writer.end_episode();
    writer.finish();
  }
  EXPECT_THAT([&] { open(); },
              testing::ThrowsMessage<DataError>(testing::AllOf(
                  testing::HasSubstr("b.h5"), testing::HasSubstr(info.node_features[4].name))));
}

TEST_F(LoaderTest, ALimitedNumberOfSamplesIsSpreadOverAllEpisodes) {
  const std::int64_t all = dataset_->num_samples();
  const std::uint64_t fingerprint = dataset_->fingerprint();
  data_.max_samples = all / 3;
  open();
  const std::int64_t some = dataset_->num_samples();
  EXPECT_LE(some, all / 3);
  EXPECT_GT(some, all / 4);
  EXPECT_NE(dataset_->fingerprint(), fingerprint);
  std::set<std::int32_t> episodes;
  for (std::int64_t sample = 0; sample < some; ++sample) {
    const SampleLocation location = dataset_->locate(sample);
    const BlockRange& range = dataset_->range(location.block);
    EXPECT_GE(location.anchor_frame, range.first_frame + data_.history_frames - 1);
    EXPECT_LT(location.anchor_frame + data_.horizon_frames, range.first_frame + range.num_frames);
    episodes.insert(range.episode);
  }
  EXPECT_EQ(episodes.size(), 8U);
  // An epoch draws each of these samples once.
  std::int64_t rows = 0;
  const auto loader = make(1);
  for (const Batch& batch : epoch(*loader, 0))
    rows += batch.sample_weight.sum().item<std::int64_t>();
  EXPECT_EQ(rows, some);
  data_.max_samples = all;
  open();
  EXPECT_EQ(dataset_->fingerprint(), fingerprint);
}

}  // namespace
}  // namespace traffic::data
