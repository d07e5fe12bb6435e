/// Compares the batches of a data set with batches that a simple reference implementation makes
/// from the frames.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>
#include <map>

#include "data/batch_builder.h"
#include "synthetic.h"
#include "traffic/data/dataset.h"

namespace traffic::data {
namespace {

using test::TempDir;
using Frames = std::vector<scene::GraphFrame>;

constexpr WindowOptions kWindows{
    .history_frames = 6, .horizon_frames = 4, .max_vehicles = 5, .stride_frames = 3};
constexpr double kTtcLimit_s = 2.5;

std::size_t column(std::string_view name) {
  return static_cast<std::size_t>(scene::node_feature_index(name));
}

/// Node of a vehicle in a frame; -1 if the frame does not have it.
std::int64_t node_of(const scene::GraphFrame& frame, std::uint32_t id) {
  const auto found = std::find(frame.vehicle_id.begin(), frame.vehicle_id.end(), id);
  return found == frame.vehicle_id.end() ? -1 : found - frame.vehicle_id.begin();
}

float feature(const scene::GraphFrame& frame, std::int64_t node, std::string_view name) {
  return frame
      .node_features[static_cast<std::size_t>(node) * scene::node_features().size() + column(name)];
}

/// A sample of the reference implementation: its anchor frame and its vehicles.
struct NaiveSample {
  const Frames* episode;
  std::size_t anchor;
  std::vector<std::uint32_t> ids;
};

std::vector<NaiveSample> naive_samples(const Frames& episode) {
  std::vector<NaiveSample> samples;
  const auto first = static_cast<std::size_t>(kWindows.history_frames - 1);
  for (std::size_t t = first;
       t + static_cast<std::size_t>(kWindows.horizon_frames) < episode.size();
       t += static_cast<std::size_t>(kWindows.stride_frames)) {
    const auto& frame = episode[t];
    for (std::int64_t c = 0; c < num_crops(frame.num_nodes(), kWindows.max_vehicles); ++c) {
      NaiveSample sample{&episode, t, {}};
      for (const auto node : crop_nodes(frame.xy_m, kWindows.max_vehicles, c)) {
        sample.ids.push_back(frame.vehicle_id[static_cast<std::size_t>(node)]);
      }
      samples.push_back(sample);
    }
  }
  return samples;
}

class BatchTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    std::vector<test::EpisodeSpec> specs;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      specs.push_back({{.seed = seed, .frames = 70, .vehicles = 60}});
    }
    test::write_file(dir_ / "a.h5", specs, {.float16 = GetParam()});
    reader_ = std::make_shared<const DatasetReader>(dir_ / "a.h5");
    // Compare with the values in the file, which may already be rounded to float16.
    for (const Episode& e : reader_->episodes()) {
      episodes_.emplace_back();
      for (std::int64_t f = 0; f < e.num_frames; ++f) {
        episodes_.back().push_back(reader_->read_graph_frame(e.first_frame + f));
      }
    }
    for (const auto& episode : episodes_) {
      for (auto& sample : naive_samples(episode)) expected_.push_back(sample);
    }
    dataset_ = std::make_shared<const Dataset>(std::vector{reader_}, Split::kTrain, kWindows);
    builder_ =
        std::make_unique<BatchBuilder>(dataset_, BatchOptions{.conflict_ttc_s = kTtcLimit_s});
    cache_ = std::make_unique<BlockCache>(*builder_, 64 << 20);
  }

  Batch build(const std::vector<std::int64_t>& samples) {
    std::vector<Draw> draws;
    for (const auto sample : samples) draws.push_back({sample, 1.0F});
    return builder_->build(draws, 0, *cache_);
  }

  void expect_nodes(const Batch& batch, std::int64_t b, const NaiveSample& sample);
  void expect_edges(const Batch& batch, std::int64_t b, const NaiveSample& sample);
  void expect_targets(const Batch& batch, std::int64_t b, const NaiveSample& sample);

  TempDir dir_;
  std::shared_ptr<const DatasetReader> reader_;
  std::vector<Frames> episodes_;
  std::vector<NaiveSample> expected_;
  std::shared_ptr<const Dataset> dataset_;
  std::unique_ptr<BatchBuilder> builder_;
  std::unique_ptr<BlockCache> cache_;
};

void BatchTest::expect_nodes(const Batch& batch, std::int64_t b, const NaiveSample& sample) {
  const auto features = batch.node_features.accessor<float, 3>();
  const auto present = batch.present.accessor<bool, 2>();
  const std::int64_t first = batch.sample_ptr[b].item<int>();
  const auto specs = scene::node_features();
  for (std::int64_t t = 0; t < kWindows.history_frames; ++t) {
    const auto& frame = (*sample.episode)[sample.anchor + 1 + static_cast<std::size_t>(t) -
                                          static_cast<std::size_t>(kWindows.history_frames)];
    for (std::size_t i = 0; i < sample.ids.size(); ++i) {
      const auto s = first + static_cast<std::int64_t>(i);
      const std::int64_t node = node_of(frame, sample.ids[i]);
      ASSERT_EQ(present[t][s], node >= 0);
      for (std::size_t k = 0; k < specs.size(); ++k) {
        const float expected =
            node < 0 ? 0.0F
                     : (feature(frame, node, specs[k].name) - specs[k].offset) / specs[k].scale;
        ASSERT_EQ(features[t][s][static_cast<std::int64_t>(k)], expected) << specs[k].name;
      }
    }
  }
}

void BatchTest::expect_edges(const Batch& batch, std::int64_t b, const NaiveSample& sample) {
  const auto ptr = batch.edge_ptr.accessor<int, 1>();
  const auto src = batch.edge_src.accessor<int, 1>();
  const auto features = batch.edge_features.accessor<float, 2>();
  const std::int64_t first = batch.sample_ptr[b].item<int>();
  const std::int64_t vehicles = batch.num_vehicles();
  const auto specs = scene::edge_features();
  for (std::int64_t t = 0; t < kWindows.history_frames; ++t) {
    const auto& frame = (*sample.episode)[sample.anchor + 1 + static_cast<std::size_t>(t) -
                                          static_cast<std::size_t>(kWindows.history_frames)];
    for (std::size_t i = 0; i < sample.ids.size(); ++i) {
      std::int64_t at = ptr[t * vehicles + first + static_cast<std::int64_t>(i)];
      const std::int64_t node = node_of(frame, sample.ids[i]);
      const std::size_t n = node < 0 ? 0 : static_cast<std::size_t>(node);
      const int end = node < 0 ? 0 : frame.edge_ptr[n + 1];
      for (int e = node < 0 ? 0 : frame.edge_ptr[n]; e < end; ++e) {
        const auto edge = static_cast<std::size_t>(e);
        const auto id = frame.vehicle_id[static_cast<std::size_t>(frame.edge_src[edge])];
        const auto other = std::find(sample.ids.begin(), sample.ids.end(), id);
        if (other == sample.ids.end()) continue;
        ASSERT_EQ(src[at], t * vehicles + first + (other - sample.ids.begin()));
        for (std::size_t k = 0; k < kNumEdgeFeatures; ++k) {
          const float value = frame.edge_features[edge * kNumEdgeFeatures + k];
          ASSERT_EQ(features[at][static_cast<std::int64_t>(k)],
                    (value - specs[k].offset) / specs[k].scale);
        }
        ++at;
      }
      ASSERT_EQ(at, ptr[t * vehicles + first + static_cast<std::int64_t>(i) + 1]);
    }
  }
}

void BatchTest::expect_targets(const Batch& batch, std::int64_t b, const NaiveSample& sample) {
  const std::int64_t first = batch.sample_ptr[b].item<int>();
  const auto& anchor = (*sample.episode)[sample.anchor];
  for (std::size_t i = 0; i < sample.ids.size(); ++i) {
    const std::int64_t s = first + static_cast<std::int64_t>(i);
    const std::int64_t now = node_of(anchor, sample.ids[i]);
    ASSERT_EQ(batch.speed_mps[s].item<float>(), feature(anchor, now, kSpeedFeature));
    ASSERT_EQ(batch.acceleration_mps2[s].item<float>(), feature(anchor, now, kAccelerationFeature));
    ASSERT_EQ(batch.lane[s].item<float>(), feature(anchor, now, kLaneFeature));
    bool any = false;
    bool conflict = false;
    for (std::int64_t h = 0; h < kWindows.horizon_frames; ++h) {
      const auto& frame = (*sample.episode)[sample.anchor + 1 + static_cast<std::size_t>(h)];
      const std::int64_t node = node_of(frame, sample.ids[i]);
      const bool there = node >= 0;
      const auto value = [&](std::string_view name) {
        return there ? feature(frame, node, name) : 0.0F;
      };
      ASSERT_EQ(batch.future_mask[s][h].item<bool>(), there);
      ASSERT_EQ(batch.future_displacement_m[s][h].item<float>(),
                there ? value(kPositionFeature) - feature(anchor, now, kPositionFeature) : 0.0F);
      ASSERT_EQ(batch.future_speed_mps[s][h].item<float>(), value(kSpeedFeature));
      ASSERT_EQ(batch.future_acceleration_mps2[s][h].item<float>(), value(kAccelerationFeature));
      ASSERT_EQ(batch.future_lane[s][h].item<float>(), value(kLaneFeature));
      if (!there) continue;
      any = true;
      const double closing = -value(kLeaderRelativeSpeedFeature);
      conflict = conflict || (closing > 0 && value(kLeaderGapFeature) / closing < kTtcLimit_s);
    }
    ASSERT_EQ(batch.conflict_mask[s].item<bool>(), any);
    ASSERT_EQ(batch.conflict[s].item<float>(), conflict ? 1.0F : 0.0F);
  }
}

TEST_P(BatchTest, TheDataSetHasTheSamplesOfThePlainComputation) {
  EXPECT_EQ(dataset_->num_samples(), static_cast<std::int64_t>(expected_.size()));
}

TEST_P(BatchTest, EveryTensorEqualsThePlainComputation) {
  const std::int64_t step = 7;
  for (std::int64_t from = 0; from + step <= dataset_->num_samples(); from += 31) {
    std::vector<std::int64_t> samples;
    for (std::int64_t i = 0; i < step; ++i) samples.push_back(from + (i * 3) % step);
    const Batch batch = build(samples);
    ASSERT_EQ(batch.num_samples(), step);
    for (std::int64_t b = 0; b < step; ++b) {
      const auto& sample =
          expected_[static_cast<std::size_t>(samples[static_cast<std::size_t>(b)])];
      ASSERT_EQ(batch.sample_ptr[b + 1].item<int>() - batch.sample_ptr[b].item<int>(),
                static_cast<int>(sample.ids.size()));
      ASSERT_EQ(batch.sample_id[b].item<std::int64_t>(), samples[static_cast<std::size_t>(b)]);
      expect_nodes(batch, b, sample);
      expect_edges(batch, b, sample);
      expect_targets(batch, b, sample);
    }
  }
}

TEST_P(BatchTest, MasksAndConflictsHaveBothValues) {
  std::vector<std::int64_t> samples(static_cast<std::size_t>(dataset_->num_samples()));
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<std::int64_t>(i);
  const Batch batch = build(samples);
  for (const auto& tensor : {batch.present, batch.future_mask, batch.conflict.to(torch::kBool)}) {
    EXPECT_TRUE(tensor.any().item<bool>());
    EXPECT_FALSE(tensor.all().item<bool>());
  }
  EXPECT_TRUE(batch.present[kWindows.history_frames - 1].all().item<bool>());
}

INSTANTIATE_TEST_SUITE_P(Precision, BatchTest, testing::Values(false, true),
                         [](const auto& precision) {
                           return precision.param ? "float16" : "float32";
                         });

}  // namespace
}  // namespace traffic::data
