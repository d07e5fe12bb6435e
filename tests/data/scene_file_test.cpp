/// Tests files of recorded scenes: scenes are read as they were written, and broken files give
/// clear errors.
#include "traffic/data/scene_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <fstream>
#include <functional>
#include <limits>

#include "data/hdf5_handle.h"
#include "scene_synthetic.h"
#include "synthetic.h"
#include "traffic/core/error.h"
#include "traffic/core/random.h"
#include "traffic/data/file_digest.h"
#include "traffic/data/reader.h"
#include "traffic/data/verify.h"

namespace traffic::data {
namespace {

using test::crossing_map;
using test::crossing_scene;
using test::TempDir;
using testing::HasSubstr;

bool operator==(const driving::SceneNode& a, const driving::SceneNode& b) {
  return a.vehicle == b.vehicle && a.x_m == b.x_m && a.y_m == b.y_m &&
         a.heading_rad == b.heading_rad && a.speed_mps == b.speed_mps && a.lane == b.lane &&
         a.route == b.route;
}

void expect_equal(const driving::RoadMap& a, const driving::RoadMap& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.lanes, b.lanes);
  EXPECT_EQ(a.edges, b.edges);
  EXPECT_EQ(a.lane_begin, b.lane_begin);
  EXPECT_EQ(a.edge, b.edge);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.width_m, b.width_m);
  EXPECT_EQ(a.speed_limit_mps, b.speed_limit_mps);
  ASSERT_EQ(a.points.size(), b.points.size());
  for (std::size_t i = 0; i < a.points.size(); ++i) {
    EXPECT_EQ(a.points[i].x_m, b.points[i].x_m);
    EXPECT_EQ(a.points[i].y_m, b.points[i].y_m);
  }
  ASSERT_EQ(a.links.size(), b.links.size());
  for (std::size_t i = 0; i < a.links.size(); ++i) {
    EXPECT_EQ(a.links[i].from_lane, b.links[i].from_lane);
    EXPECT_EQ(a.links[i].to_lane, b.links[i].to_lane);
    EXPECT_EQ(a.links[i].connector, b.links[i].connector);
    EXPECT_EQ(a.links[i].signal, b.links[i].signal);
  }
  ASSERT_EQ(a.signals.size(), b.signals.size());
  for (std::size_t i = 0; i < a.signals.size(); ++i) {
    EXPECT_EQ(a.signals[i].light, b.signals[i].light);
    EXPECT_EQ(a.signals[i].index, b.signals[i].index);
  }
}

void expect_equal(const driving::RecordedScene& a, const driving::RecordedScene& b) {
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.route_begin, b.route_begin);
  EXPECT_EQ(a.route_edges, b.route_edges);
  EXPECT_EQ(a.time_s, b.time_s);
  EXPECT_EQ(a.node_begin, b.node_begin);
  EXPECT_EQ(a.signals, b.signals);
  ASSERT_EQ(a.vehicles.size(), b.vehicles.size());
  for (std::size_t i = 0; i < a.vehicles.size(); ++i) {
    EXPECT_EQ(a.vehicles[i].type, b.vehicles[i].type);
    EXPECT_EQ(a.vehicles[i].length_m, b.vehicles[i].length_m);
    EXPECT_EQ(a.vehicles[i].width_m, b.vehicles[i].width_m);
  }
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  for (std::size_t i = 0; i < a.nodes.size(); ++i) EXPECT_TRUE(a.nodes[i] == b.nodes[i]) << i;
}

SceneFileInfo scene_info() {
  return {.scenario = "crossing",
          .source = "a test",
          .program_version = "0",
          .command_line = "data_prep record --scenes",
          .created_utc = "2026-01-01T00:00:00Z",
          .splitting = "none"};
}

class SceneFiles : public testing::Test {
 protected:
  void SetUp() override { write(path_, {}); }

  static void write(const std::string& path, const SceneWriterOptions& options) {
    SceneWriter writer(path, scene_info(), options);
    const auto map = crossing_map();
    auto other = std::make_shared<driving::RoadMap>(*map);
    other->name = "another";
    other->links.clear();
    other->signals.clear();
    writer.add(crossing_scene(map, 1, 9), {.split = Split::kTrain, .demand_scale = 1.5});
    auto without_light = crossing_scene(other, 2, 5);
    without_light.signals.clear();
    writer.add(without_light, {.split = Split::kTest});
    writer.add(crossing_scene(map, 3, 7), {.split = Split::kValidation});
    writer.finish();
  }

  /// Opens the file and reads all of it. @return the message of the error
  [[nodiscard]] static std::string read_all(const std::string& path) {
    try {
      const SceneReader file(path);
      for (std::size_t i = 0; i < file.episodes().size(); ++i) (void)file.read(i);
      if (file.compute_content_hash() != file.info().content_hash) return "another hash";
    } catch (const DataError& error) {
      return error.what();
    }
    return "no error";
  }

  /// Overwrites one element of a column in place.
  template <typename T>
  void set_element(const std::string& name, hid_t type, std::vector<hsize_t> at, T value) {
    h5::enter();
    const h5::File file(H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
    ASSERT_GE(file.get(), 0);
    const h5::Dataset dataset(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT));
    const h5::Dataspace space(H5Dget_space(dataset.get()));
    H5Sselect_elements(space.get(), H5S_SELECT_SET, 1, at.data());
    const h5::Dataspace one(H5Screate(H5S_SCALAR));
    ASSERT_GE(H5Dwrite(dataset.get(), type, one.get(), space.get(), H5P_DEFAULT, &value), 0);
  }

  void set_rows(const std::string& name, std::vector<hsize_t> size) {
    h5::enter();
    const h5::File file(H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
    const h5::Dataset dataset(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT));
    ASSERT_GE(H5Dset_extent(dataset.get(), size.data()), 0);
  }

  TempDir dir_;
  std::string path_ = dir_ / "scenes.h5";
};

TEST_F(SceneFiles, ReadsTheScenesThatWereWritten) {
  const SceneReader file(path_);
  EXPECT_EQ(format_of(path_), kSceneFormatName);
  EXPECT_EQ(file.info().scenario, "crossing");
  EXPECT_EQ(file.info().source, "a test");
  ASSERT_EQ(file.maps().size(), 2U);
  expect_equal(*file.maps()[0], *crossing_map());
  ASSERT_EQ(file.episodes().size(), 3U);
  EXPECT_EQ(file.episodes()[0].demand_scale, 1.5);
  EXPECT_EQ(file.episodes()[1].split, Split::kTest);
  EXPECT_EQ(file.episodes()[1].map, 1);
  EXPECT_EQ(file.episodes()[2].map, 0);
  EXPECT_EQ(file.num_frames(), 21);
  const auto first = file.read(0);
  expect_equal(first, crossing_scene(file.maps()[0], 1, 9));
  EXPECT_EQ(first.map, file.maps()[0]);
  EXPECT_EQ(file.read(1).map->name, "another");
  expect_equal(file.read(2), crossing_scene(file.maps()[0], 3, 7));
  EXPECT_EQ(file.compute_content_hash(), file.info().content_hash);
}

TEST_F(SceneFiles, TheContentDoesNotDependOnCompressionAndThreads) {
  const std::string other = dir_ / "other.h5";
  write(other, {.compression_level = 0, .encoder_threads = 2});
  EXPECT_EQ(read_all(other), "no error");
  EXPECT_EQ(SceneReader(other).info().content_hash, SceneReader(path_).info().content_hash);
}

TEST_F(SceneFiles, AFileAppearsOnlyWhenItIsComplete) {
  const std::string other = dir_ / "other.h5";
  {
    SceneWriter writer(other, scene_info());
    writer.add(crossing_scene(crossing_map(), 1, 3), {});
  }
  EXPECT_FALSE(std::filesystem::exists(other));
  SceneWriter empty(other, scene_info());
  EXPECT_THROW(empty.finish(), DataError);
}

TEST_F(SceneFiles, TheWriterRefusesInconsistentScenes) {
  SceneWriter writer(dir_ / "other.h5", scene_info());
  const auto refuses = [&](const std::function<void(driving::RecordedScene&)>& change,
                           const char* why) {
    auto scene = crossing_scene(crossing_map(), 1, 9);
    change(scene);
    try {
      writer.add(scene, {});
      ADD_FAILURE() << "no error, expected: " << why;
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr(why));
    }
  };
  refuses([](auto& s) { s.map = nullptr; }, "the scene has no map");
  refuses([](auto& s) { s.nodes[4].vehicle = 3; }, "vehicle 3 is not one of the 3 vehicles");
  refuses([](auto& s) { s.nodes[4].lane = 3; }, "is on lane 3, but the map has 3");
  refuses([](auto& s) { s.nodes[4].route = 2; }, "has route 2, but the scene has 2");
  refuses([](auto& s) { s.nodes[4].x_m = std::numeric_limits<float>::infinity(); }, "is at (inf");
  refuses([](auto& s) { s.nodes[4].heading_rad = 7.0F; }, "has a heading of 7 rad");
  refuses([](auto& s) { s.nodes[3].vehicle = s.nodes[2].vehicle; }, "expected rising numbers");
  refuses([](auto& s) { s.route_edges[1] = 3; }, "a route passes edge 3");
  refuses([](auto& s) { s.signals.pop_back(); }, "has 8 signal states, expected 9");
  refuses([](auto& s) { s.signals[2] = 'x'; }, "frame 2: signal 0 shows");
  refuses([](auto& s) { s.time_s[5] += 0.1; }, "frame 5 is at");
  refuses([](auto& s) { s.vehicles[1].length_m = 0.0F; }, "vehicle 1 ('truck') is 0 m long");
  refuses([](auto& s) { s.node_begin.back() += 1; }, "where the frames begin");
  refuses([](auto& s) { s.time_s.clear(); }, "the scene has no frame");
}

TEST_F(SceneFiles, DanglingIndicesAndOddNumbersInAFileAreFound) {
  const auto i32 = H5T_NATIVE_INT32;
  const auto i64 = H5T_NATIVE_INT64;
  struct Case {
    std::string name;
    std::vector<hsize_t> at;
    hid_t type;
    std::int64_t value;
    std::string message;
  };
  const std::vector<Case> cases{
      {"nodes/vehicle", {3}, i32, 77, "episode 0: frame 2 at 1.5 s: vehicle 77 is not one"},
      {"nodes/lane", {3}, i32, -2, "is on lane -2, but the map has 3"},
      {"nodes/route", {3}, i32, 5, "has route 5, but the scene has 2"},
      {"routes/edge", {1}, i32, 50, "episode 0: a route passes edge 50"},
      {"episodes/map", {1}, i32, 2, "episode 1 has split 2, demand scale 1 and map 2"},
      {"episodes/frame_ptr", {1}, i64, 99, "episodes/frame_ptr falls from 99"},
      {"episodes/frame_ptr", {3}, i64, 99, "episodes/frame_ptr runs from 0 to 99"},
      {"frames/node_ptr", {2}, i64, -9, "frames/node_ptr falls from"},
      {"lanes/name", {0}, i32, 1000, "lanes/name refers to string 1000"},
      {"lanes/edge", {2}, i32, 3, "lane 2 ('out_0') is on edge 3, but the map has 3"},
      {"links/signal", {0}, i32, 1, "link 0 leads from lane 0 to lane 2 over lane 1 with signal 1"},
      {"strings/ptr", {1}, i64, 1 << 20, "strings/ptr falls from"},
      {"vehicles/length_m", {1}, i32, -1, "episode 0: vehicle 1"},
  };
  for (const Case& c : cases) {
    SetUp();
    if (c.type == i32) {
      set_element(c.name, c.type, c.at, static_cast<std::int32_t>(c.value));
    } else {
      set_element(c.name, c.type, c.at, c.value);
    }
    const std::string found = read_all(path_);
    EXPECT_THAT(found, HasSubstr(path_)) << c.name;
    EXPECT_THAT(found, HasSubstr(c.message)) << c.name;
  }
}

TEST_F(SceneFiles, ColumnsOfDifferentLengthsAreFound) {
  for (const char* name : {"nodes/lane", "episodes/split", "vehicles/type", "links/connector",
                           "frames/signals", "frames/node_ptr", "lanes/width_m"}) {
    SetUp();
    set_rows(name, {1});
    EXPECT_THAT(read_all(path_), testing::AllOf(HasSubstr(path_), HasSubstr("rows"))) << name;
    SetUp();
    set_rows(name, {0});
    EXPECT_NE(read_all(path_), "no error") << name;
  }
}

TEST_F(SceneFiles, HugeClaimsDoNotTakeMemory) {
  set_rows("frames/signals", {1ULL << 40});
  EXPECT_THAT(read_all(path_), HasSubstr("claims 1099511627776 rows"));
}

TEST_F(SceneFiles, FilesOfTheTwoFormatsAreToldApart) {
  EXPECT_THROW(DatasetReader{path_}, DataError);
  const std::string graphs = dir_ / "graphs.h5";
  test::write_file(graphs, {{{.seed = 1}}});
  EXPECT_EQ(format_of(graphs), kFormatName);
  EXPECT_THAT(read_all(graphs),
              HasSubstr("has the format 'traffic-graphs', expected 'traffic-scenes'"));
}

/// Writes one scene after `change` has changed it. @return the result of find_problems()
std::vector<std::string> problems_of(const std::string& path,
                                     const std::function<void(driving::RecordedScene&)>& change) {
  SceneWriter writer(path, scene_info());
  auto scene = crossing_scene(crossing_map(), 1, 20);
  change(scene);
  writer.add(scene, {});
  writer.finish();
  return find_problems(SceneReader(path));
}

TEST_F(SceneFiles, VerifyFindsImpossibleMovements) {
  using testing::ElementsAre;
  using testing::IsEmpty;
  using Nodes = driving::RecordedScene&;
  const std::string path = dir_ / "moved.h5";
  EXPECT_THAT(problems_of(path, [](Nodes) {}), IsEmpty());
  EXPECT_THAT(problems_of(path, [](Nodes s) { s.nodes[40].speed_mps = -3.0F; }),
              testing::Contains(HasSubstr("has a speed of -3 m/s")));
  EXPECT_THAT(problems_of(path, [](Nodes s) { s.nodes[40].x_m += 80.0F; }),
              testing::Contains(HasSubstr("m in 0.5 s with speeds of 10 and 10 m/s")));
  EXPECT_THAT(problems_of(path,
                          [](Nodes s) {
                            for (auto& node : s.nodes) node.heading_rad = 1.57F;
                          }),
              ElementsAre(HasSubstr("moves 90 degrees away from its heading")));
  EXPECT_THAT(problems_of(path,
                          [](Nodes s) {
                            for (auto& node : s.nodes) node.y_m = 500.0F;
                          }),
              ElementsAre(HasSubstr("is on lane 'in_0', but")));
}

TEST_F(SceneFiles, VerifyFindsAChangedContent) {
  set_element("nodes/xy_m", H5T_NATIVE_FLOAT, {3, 0}, 11.0F);
  EXPECT_THAT(find_problems(SceneReader(path_)),
              testing::ElementsAre(HasSubstr("the attribute content_xxh3 is")));
}

TEST_F(SceneFiles, TheSameTrafficInTwoSplitsIsALeak) {
  const std::string other = dir_ / "other.h5";
  SceneWriter writer(other, scene_info());
  writer.add(crossing_scene(crossing_map(), 1, 4), {.split = Split::kTest, .demand_scale = 1.5});
  writer.finish();
  const auto none = [](std::int64_t) {};
  const std::vector<FileDigest> files{digest_file(SceneReader(path_), none),
                                      digest_file(SceneReader(other), none)};
  EXPECT_THAT(find_leaks(files), testing::ElementsAre(testing::AllOf(
                                     HasSubstr("leak between splits"), HasSubstr("seed 1 "),
                                     HasSubstr("record it with other seeds"))));
}

TEST_F(SceneFiles, TruncatedFilesAreErrors) {
  const std::string whole = test::read_bytes(path_);
  for (std::size_t size = 0; size < whole.size(); size += whole.size() / 40 + 1) {
    test::write_bytes(path_, whole.substr(0, size));
    EXPECT_NE(read_all(path_), "no error") << size;
  }
}

TEST_F(SceneFiles, DamagedBytesNeverCrashTheReader) {
  const std::string whole = test::read_bytes(path_);
  Rng rng(7);
  int noticed = 0;
  constexpr int kTrials = 400;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::string bytes = whole;
    for (int i = 0; i < 3; ++i) {
      const auto at = static_cast<std::size_t>(rng.uniform() * static_cast<double>(bytes.size()));
      bytes[at] = static_cast<char>(rng.uniform() * 256);
    }
    test::write_bytes(path_, bytes);
    noticed += read_all(path_) != "no error" ? 1 : 0;
  }
  // Some damage goes unnoticed, because bytes between the structures of the file have no meaning.
  EXPECT_GT(noticed, kTrials / 4);
}

}  // namespace
}  // namespace traffic::data
