/// Loads data set files that lack some features, because the recording that they were made from did
/// not contain them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include "data/batch_builder.h"
#include "synthetic.h"
#include "traffic/core/error.h"
#include "traffic/data/dataset.h"

namespace traffic::data {
namespace {

using test::TempDir;

constexpr WindowOptions kShortWindows{
    .history_frames = 6, .horizon_frames = 4, .max_vehicles = 50, .stride_frames = 3};

std::shared_ptr<const DatasetReader> write_lacking(const std::filesystem::path& path,
                                                   std::vector<std::string_view> missing,
                                                   std::uint64_t seed = 1) {
  DatasetWriter writer(path, test::test_info(), {});
  writer.begin_episode({.seed = seed});
  for (const auto& frame : test::make_traffic({.seed = seed})) writer.append(frame);
  writer.end_episode();
  writer.mark_missing(missing);
  writer.finish();
  return std::make_shared<const DatasetReader>(path);
}

Batch first_batch(std::vector<std::shared_ptr<const DatasetReader>> files) {
  auto dataset = std::make_shared<const Dataset>(std::move(files), Split::kTrain, kShortWindows);
  const BatchBuilder builder(dataset, BatchOptions{.conflict_ttc_s = 2.5});
  BlockCache cache(builder, 64 << 20);
  const std::vector<Draw> draws{{0, 1.0F}, {1, 1.0F}};
  return builder.build(draws, 0, cache);
}

at::Tensor column_of(const Batch& batch, std::string_view name) {
  return batch.node_features.select(2, scene::node_feature_index(name));
}

TEST(MissingFeatures, AreNamedByTheFileAndZeroInABatch) {
  TempDir dir;
  const auto file = write_lacking(dir / "a.h5", {"own_queue", "mean_completion"});
  EXPECT_THAT(missing_features(file->info()), testing::ElementsAre("own_queue", "mean_completion"));
  const Batch batch = first_batch({file});
  EXPECT_EQ(column_of(batch, "own_queue").abs().max().item<float>(), 0.0F);
  EXPECT_GT(column_of(batch, "own_vehicles").abs().max().item<float>(), 0.0F);
  EXPECT_TRUE(batch.conflict_mask.any().item<bool>());
}

TEST(MissingFeatures, ACompleteFileListsNoMissingFeatures) {
  TempDir dir;
  const auto file = write_lacking(dir / "a.h5", {});
  EXPECT_THAT(missing_features(file->info()), testing::IsEmpty());
  EXPECT_EQ(test::read_bytes(dir / "a.h5").find("_features_present"), std::string::npos);
}

TEST(MissingFeatures, SeveralFilesHaveTheFeaturesThatAllOfThemHave) {
  TempDir dir;
  const auto a = write_lacking(dir / "a.h5", {"own_queue"});
  const auto b = write_lacking(dir / "b.h5", {"is_cv"}, 2);
  const Dataset together({a, b}, Split::kTrain, kShortWindows);
  EXPECT_THAT(missing_features(together.info()), testing::ElementsAre("is_cv", "own_queue"));
  const Batch batch = first_batch({a, b});
  EXPECT_EQ(column_of(batch, "is_cv").abs().max().item<float>(), 0.0F);
  EXPECT_EQ(column_of(batch, "own_queue").abs().max().item<float>(), 0.0F);
}

TEST(MissingFeatures, WithoutLeadersThereIsNoConflictLabel) {
  TempDir dir;
  const Batch batch = first_batch({write_lacking(dir / "a.h5", {"leader_gap_m"})});
  EXPECT_FALSE(batch.conflict_mask.any().item<bool>());
}

TEST(MissingFeatures, PositionsAndSpeedsCannotBeMissing) {
  TempDir dir;
  const auto file = write_lacking(dir / "a.h5", {"speed_mps"});
  EXPECT_THAT(
      [&] { first_batch({file}); },
      testing::ThrowsMessage<DataError>(testing::HasSubstr("does not have the feature speed_mps")));
}

TEST(MissingFeatures, AFeatureOfZeroIsZeroAfterScaling) {
  for (const auto specs :
       {scene::node_features(), scene::edge_features(), scene::global_features()}) {
    for (const auto& spec : specs) EXPECT_EQ(spec.offset, 0.0F) << spec.name;
  }
}

}  // namespace
}  // namespace traffic::data
