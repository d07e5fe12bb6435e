#include "data/augment.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include "data/batch_builder.h"
#include "synthetic.h"
#include "traffic/data/dataset.h"

namespace traffic::data {
namespace {

using test::TempDir;

/// Builds batches of one data set under different augmentations.
class AugmentTest : public testing::Test {
 protected:
  AugmentTest() {
    test::write_file(dir_ / "a.h5", {{{.seed = 1, .frames = 120, .vehicles = 80}}});
    data_.files = {dir_ / "a.h5"};
    data_.max_vehicles = 6;
    auto& a = data_.augmentation;
    a = {.enabled = true,
         .time_shift_frames = 0,
         .speed_noise_mps = 0,
         .position_jitter_m = 0,
         .edge_dropout = 0,
         .feature_mask = 0};
  }

  [[nodiscard]] Batch build(std::uint64_t seed = 1, std::int64_t epoch = 0) const {
    const auto dataset = std::make_shared<const Dataset>(open_data_files(data_).files,
                                                         Split::kTrain, window_options(data_));
    std::vector<Draw> draws;
    for (std::int64_t i = 0; i < dataset->num_samples(); ++i) draws.push_back({i, 1.0F});
    const BatchBuilder builder(dataset, {.augmentation = data_.augmentation, .seed = seed});
    BlockCache cache(builder, 64 << 20);
    return builder.build(draws, epoch, cache);
  }

  static torch::Tensor feature(const Batch& batch, std::string_view name) {
    return batch.node_features.select(2, scene::node_feature_index(name));
  }

  TempDir dir_;
  config::Data data_;
};

TEST_F(AugmentTest, WithEveryKindAtZeroNothingChanges) {
  const Batch changed = build();
  data_.augmentation.enabled = false;
  const Batch plain = build();
  EXPECT_TRUE(torch::equal(changed.node_features, plain.node_features));
  EXPECT_TRUE(torch::equal(changed.edge_src, plain.edge_src));
}

TEST_F(AugmentTest, RepeatsOnlyForTheSameSeedAndEpoch) {
  data_.augmentation.speed_noise_mps = 0.1;
  const Batch batch = build(1, 5);
  EXPECT_TRUE(torch::equal(batch.node_features, build(1, 5).node_features));
  EXPECT_FALSE(torch::equal(batch.node_features, build(1, 6).node_features));
  EXPECT_FALSE(torch::equal(batch.node_features, build(2, 5).node_features));
}

TEST_F(AugmentTest, SpeedNoiseChangesTheSpeedsOfPresentVehiclesOnly) {
  const Batch plain = build();
  data_.augmentation.speed_noise_mps = 0.5;
  const Batch noisy = build();
  const auto specs = scene::node_features();
  const auto scale =
      specs[static_cast<std::size_t>(scene::node_feature_index(kSpeedFeature))].scale;
  const auto fast = plain.present & (feature(plain, kSpeedFeature) * scale > 5);
  const auto noise =
      ((feature(noisy, kSpeedFeature) - feature(plain, kSpeedFeature)) * scale).index({fast});
  const auto n = static_cast<double>(noise.numel());
  ASSERT_GT(n, 1000);
  // The tolerances are five standard errors of a mean and of a standard deviation of normal
  // numbers.
  EXPECT_NEAR(noise.mean().item<double>(), 0, 5 * 0.5 / std::sqrt(n));
  EXPECT_NEAR(noise.std().item<double>(), 0.5, 5 * 0.5 / std::sqrt(2 * n));
  EXPECT_GE(feature(noisy, kSpeedFeature).min().item<float>(), 0.0F);
  EXPECT_EQ(noisy.node_features.index({~noisy.present}).abs().sum().item<float>(), 0.0F);
  EXPECT_TRUE(torch::equal(feature(noisy, kPositionFeature), feature(plain, kPositionFeature)));
  EXPECT_TRUE(torch::equal(noisy.future_speed_mps, plain.future_speed_mps));
}

TEST_F(AugmentTest, PositionJitterMovesAVehicleByOneDistanceInAllFrames) {
  const Batch plain = build();
  data_.augmentation.position_jitter_m = 5;
  const Batch moved = build();
  const auto shift = (feature(moved, kPositionFeature) - feature(plain, kPositionFeature)) * 1000;
  const auto at_anchor = shift[data_.history_frames - 1];
  const auto off = (shift - at_anchor).index({plain.present}).abs().max().item<float>();
  EXPECT_LT(off, 0.01F);  // float32 rounding of positions up to 4 km
  EXPECT_LE(at_anchor.abs().max().item<float>(), 5.01F);
  EXPECT_GT(at_anchor.std().item<float>(), 2.0F);
  EXPECT_TRUE(torch::equal(moved.future_displacement_m, plain.future_displacement_m));
}

TEST_F(AugmentTest, EdgeDropoutDropsAboutItsShare) {
  const Batch plain = build();
  data_.augmentation.edge_dropout = 0.25;
  const Batch dropped = build();
  const auto edges = static_cast<double>(plain.num_edges());
  ASSERT_GT(edges, 1000);
  EXPECT_NEAR(static_cast<double>(dropped.num_edges()) / edges, 0.75,
              5 * std::sqrt(0.25 * 0.75 / edges));
  EXPECT_EQ(dropped.edge_ptr[-1].item<int>(), dropped.num_edges());
}

TEST_F(AugmentTest, FeatureMaskHidesAFeatureOfAVehicleInAllFrames) {
  data_.augmentation.feature_mask = 0.2;
  const Batch masked = build();
  // In synthetic traffic only lanes and speeds can be exactly 0 without a mask.
  const auto names = scene::node_features();
  const auto column = static_cast<std::int64_t>(names.size()) - 1;
  const auto values = masked.node_features.select(2, column);
  const auto hidden = (values == 0) & masked.present;
  const auto at_anchor = hidden[data_.history_frames - 1];
  const auto vehicles = static_cast<double>(at_anchor.numel());
  EXPECT_NEAR(at_anchor.to(torch::kFloat).mean().item<double>(), 0.2,
              5 * std::sqrt(0.2 * 0.8 / vehicles));
  EXPECT_TRUE(torch::equal(hidden, at_anchor.expand_as(hidden) & masked.present));
}

TEST_F(AugmentTest, TimeShiftMovesTheWholeWindowWithinItsEpisode) {
  const Batch plain = build();
  data_.augmentation.time_shift_frames = 7;
  const Batch shifted = build();
  EXPECT_TRUE(torch::equal(shifted.sample_id, plain.sample_id));
  EXPECT_TRUE(shifted.present[data_.history_frames - 1].all().item<bool>());
  // A time shift moves history and targets together.
  EXPECT_TRUE(torch::equal(feature(shifted, kSpeedFeature)[data_.history_frames - 1],
                           shifted.speed_mps / 30));
  EXPECT_FALSE(plain.speed_mps.numel() == shifted.speed_mps.numel() &&
               torch::equal(plain.speed_mps, shifted.speed_mps));
}

}  // namespace
}  // namespace traffic::data
