#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "synthetic.h"
#include "traffic/data/reader.h"
#include "traffic/data/writer.h"

namespace traffic::data {
namespace {

using test::EpisodeSpec;
using test::make_traffic;
using test::TempDir;

const std::vector<EpisodeSpec> kEpisodes{{{.seed = 1, .frames = 60, .vehicles = 40}},
                                         {{.seed = 2, .frames = 3}, Split::kValidation},
                                         {{.seed = 3, .frames = 200}, Split::kTest}};

void expect_equal(const scene::GraphFrame& found, const scene::GraphFrame& expected) {
  EXPECT_EQ(found.time_s, expected.time_s);
  EXPECT_EQ(found.vehicle_id, expected.vehicle_id);
  EXPECT_EQ(found.xy_m, expected.xy_m);
  EXPECT_EQ(found.node_features, expected.node_features);
  EXPECT_EQ(found.edge_ptr, expected.edge_ptr);
  EXPECT_EQ(found.edge_src, expected.edge_src);
  EXPECT_EQ(found.edge_features, expected.edge_features);
  EXPECT_EQ(found.global_features, expected.global_features);
}

class RoundTrip : public testing::TestWithParam<int> {};

TEST_P(RoundTrip, FramesAreReadAsTheyWereWritten) {
  const TempDir dir;
  test::write_file(dir / "a.h5", kEpisodes, {.compression_level = GetParam()});
  const DatasetReader reader(dir / "a.h5");
  ASSERT_EQ(reader.episodes().size(), kEpisodes.size());
  for (std::size_t e = 0; e < kEpisodes.size(); ++e) {
    const Episode& episode = reader.episodes()[e];
    EXPECT_EQ(episode.seed, kEpisodes[e].traffic.seed);
    EXPECT_EQ(episode.split, kEpisodes[e].split);
    const auto expected = make_traffic(kEpisodes[e].traffic);
    ASSERT_EQ(episode.num_frames, static_cast<std::int64_t>(expected.size()));
    for (std::int64_t f = 0; f < episode.num_frames; ++f) {
      expect_equal(reader.read_graph_frame(episode.first_frame + f),
                   expected[static_cast<std::size_t>(f)]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(CompressionLevels, RoundTrip, testing::Values(0, 1, 4, 9));

TEST(RoundTripAttributes, InfoIsReadAsItWasWritten) {
  const TempDir dir;
  test::write_file(dir / "a.h5", kEpisodes);
  const FileInfo info = DatasetReader(dir / "a.h5").info();
  const FileInfo expected = test::test_info();
  EXPECT_EQ(info.scenario, expected.scenario);
  EXPECT_EQ(info.step_length_s, expected.step_length_s);
  EXPECT_EQ(info.frame_interval_s, expected.frame_interval_s);
  EXPECT_EQ(info.command_line, expected.command_line);
  EXPECT_EQ(info.created_utc, expected.created_utc);
  EXPECT_EQ(info.controller_names, expected.controller_names);
  EXPECT_EQ(info.node_features, expected.node_features);
  EXPECT_EQ(info.edge_features, expected.edge_features);
  EXPECT_EQ(info.global_features, expected.global_features);
  EXPECT_FALSE(info.float16);
}

TEST(RoundTripFloat16, FeaturesAreRoundedAndPositionsExact) {
  const TempDir dir;
  test::write_file(dir / "a.h5", kEpisodes, {.float16 = true});
  const DatasetReader reader(dir / "a.h5");
  EXPECT_TRUE(reader.info().float16);
  const auto expected = make_traffic(kEpisodes[0].traffic);
  const auto width = scene::node_features().size();
  const auto position = static_cast<std::size_t>(scene::node_feature_index(kPositionFeature));
  for (std::size_t f = 0; f < expected.size(); ++f) {
    const auto frame = reader.read_graph_frame(static_cast<std::int64_t>(f));
    ASSERT_EQ(frame.node_features.size(), expected[f].node_features.size());
    for (std::size_t i = 0; i < frame.node_features.size(); ++i) {
      const float value = expected[f].node_features[i];
      if (i % width == position) {
        ASSERT_EQ(frame.node_features[i], value);
      } else {
        // The tolerance is half a unit in the last of 11 significant bits; 2^-25 for subnormal
        // numbers.
        ASSERT_NEAR(frame.node_features[i], value, std::abs(value) * 0x1p-11 + 0x1p-25);
      }
    }
    ASSERT_EQ(frame.edge_src, expected[f].edge_src);
  }
}

TEST(RoundTripFloat16, IsSmallerThanFloat32) {
  const TempDir dir;
  test::write_file(dir / "a.h5", kEpisodes, {.float16 = true});
  test::write_file(dir / "b.h5", kEpisodes);
  EXPECT_LT(std::filesystem::file_size(dir / "a.h5"), std::filesystem::file_size(dir / "b.h5"));
}

TEST(RoundTrip, TheSameEpisodesGiveTheSameBytes) {
  const TempDir dir;
  test::write_file(dir / "a.h5", kEpisodes);
  // HDF5's time stamps count seconds, so a second file a second later would differ by them.
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  test::write_file(dir / "b.h5", kEpisodes);
  EXPECT_TRUE(test::read_bytes(dir / "a.h5") == test::read_bytes(dir / "b.h5"));
}

TEST(RoundTrip, ManyThreadsReadTheSameValues) {
  const TempDir dir;
  test::write_file(dir / "a.h5", kEpisodes);
  const DatasetReader reader(dir / "a.h5");
  const PackedFrames expected = reader.read_frames(10, 200);
  std::vector<std::thread> threads;
  std::vector<int> equal(4, 0);
  for (std::size_t i = 0; i < equal.size(); ++i) {
    threads.emplace_back([&, i] {
      const PackedFrames found = reader.read_frames(10, 200);
      equal[i] = static_cast<int>(found.node_features == expected.node_features &&
                                  found.edge_src == expected.edge_src &&
                                  found.edge_ptr == expected.edge_ptr);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(std::count(equal.begin(), equal.end(), 1), 4);
}

TEST(RoundTrip, AnEpisodeWithoutVehiclesCanBeWritten) {
  const TempDir dir;
  test::write_file(dir / "a.h5", {{{.seed = 1, .frames = 5, .vehicles = 0}}});
  const DatasetReader reader(dir / "a.h5");
  EXPECT_EQ(reader.num_nodes(), 0);
  EXPECT_EQ(reader.read_graph_frame(3).num_nodes(), 0);
}

}  // namespace
}  // namespace traffic::data
