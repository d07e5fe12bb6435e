/// Runs data_prep record --scenes, convert --scenes, verify and inspect as users do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "support/run_folder_test.h"
#include "traffic/core/error.h"
#include "traffic/data/scene_file.h"

namespace traffic {
namespace {

namespace fs = std::filesystem;
using data::SceneReader;
using testing::HasSubstr;

const std::string kScenarios = TRAFFIC_SOURCE_DIR "/configs/scenarios/";

class Scenes : public test::RunFolderTest {
 protected:
  [[nodiscard]] static test::Outcome data_prep(const std::string& arguments) {
    return test::run_program("sh -c '" TRAFFIC_BIN_DIR "/data_prep " + arguments + "'", 400);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return dir_ / name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(dir_ / name) << text;
    return path(name);
  }
};

/// Largest difference in a scene, in m/s, between the recorded speed of a vehicle and the speed
/// that its movement between two frames gives.
double largest_difference_of_speeds(const driving::RecordedScene& scene) {
  double largest = 0;
  std::map<std::int32_t, driving::SceneNode> before;
  for (std::size_t f = 0; f < scene.num_frames(); ++f) {
    std::map<std::int32_t, driving::SceneNode> now;
    for (const auto& node : scene.frame(f)) {
      now[node.vehicle] = node;
      const auto found = before.find(node.vehicle);
      if (found == before.end()) continue;
      const double moved_m = std::hypot(node.x_m - found->second.x_m, node.y_m - found->second.y_m);
      const double mean_mps = 0.5 * (node.speed_mps + found->second.speed_mps);
      largest = std::max(largest, std::abs(moved_m / driving::kFrame_s - mean_mps));
    }
    before = std::move(now);
  }
  return largest;
}

TEST_F(Scenes, ARecordedTownHasRoutesLightsAndSmoothMovements) {
  const auto done = data_prep(
      "record --scenes --scenario drive_town_2 --episodes 2 --jobs 1 --seeds 70 --split 0.5,0,0.5 "
      "--set env.max_time_s=40 --json --out " +
      path("data"));
  ASSERT_EQ(done.exit_code, 0) << done.output;
  const SceneReader file(path("data/drive_town_2-0000.h5"));
  ASSERT_EQ(file.episodes().size(), 2U);
  EXPECT_EQ(file.episodes()[0].seed, 70U);
  EXPECT_EQ(file.episodes()[1].split, data::Split::kTest);
  ASSERT_EQ(file.maps().size(), 1U);
  EXPECT_EQ(file.maps()[0]->name, "drive_town_2");
  EXPECT_GT(file.maps()[0]->signals.size(), 20U);
  const auto scene = file.read(0);
  EXPECT_EQ(scene.num_frames(), 80U);
  EXPECT_EQ(scene.time_s.front(), 0.5);
  EXPECT_GT(scene.vehicles.size(), 15U);
  // The movement between two frames is a straight line. It is shorter than the driven distance in
  // sharp turns and in changes of lanes.
  EXPECT_LT(largest_difference_of_speeds(scene), 3.0);
  std::set<std::string> types;
  for (const auto& vehicle : scene.vehicles) types.insert(vehicle.type);
  EXPECT_TRUE(types.count("car") == 1 && types.count("truck") == 1);
  std::set<std::uint8_t> letters(scene.signals.begin(), scene.signals.end());
  EXPECT_TRUE(letters.count('r') == 1 && (letters.count('g') == 1 || letters.count('G') == 1));
  std::size_t on_route = 0;
  for (const auto& node : scene.nodes) {
    ASSERT_GE(node.route, 0);
    ASSERT_GE(node.lane, 0);
    const auto lane = static_cast<std::size_t>(node.lane);
    const auto route = scene.route(static_cast<std::size_t>(node.route));
    on_route += scene.map->kind[lane] == driving::LaneKind::kConnector ||
                std::find(route.begin(), route.end(), scene.map->edge[lane]) != route.end();
  }
  EXPECT_EQ(on_route, scene.nodes.size());
  const auto verified = data_prep("verify " + path("data/drive_town_2-0000.h5"));
  EXPECT_EQ(verified.exit_code, 0) << verified.output;
  EXPECT_THAT(verified.output, HasSubstr("files: 1, problems: 0"));
}

TEST_F(Scenes, TheSameSeedGivesTheSameScenes) {
  for (const char* name : {"a", "b"}) {
    const auto done = data_prep(
        "record --scenes --scenario merge_quick --episodes 1 --set env.max_time_s=30 --out " +
        path(name));
    ASSERT_EQ(done.exit_code, 0) << done.output;
  }
  EXPECT_EQ(SceneReader(path("a/merge_quick-0000.h5")).info().content_hash,
            SceneReader(path("b/merge_quick-0000.h5")).info().content_hash);
  const auto verified = data_prep("verify " + path("a/*.h5") + " " + path("b/*.h5"));
  EXPECT_EQ(verified.exit_code, static_cast<int>(ExitCode::kData));
  EXPECT_THAT(verified.output, HasSubstr("duplicate samples"));
}

TEST_F(Scenes, AConvertedRecordingEqualsTheRecordedScenes) {
  const auto recorded = data_prep(
      "record --scenes --scenario merge_quick --episodes 1 --set env.max_time_s=40 --set "
      "\"env.sumo_args=[\\\"--fcd-output\\\",\\\"" +
      path("merge.fcd.xml") + "\\\",\\\"--precision\\\",\\\"6\\\"]\" --out " + path("data"));
  ASSERT_EQ(recorded.exit_code, 0) << recorded.output;
  // SUMO states the time at which a step starts, and the recorder the time at which it ends. The
  // first frame of the recorder is therefore at 0.4 s.
  std::ifstream written(path("merge.fcd.xml"));
  std::string text{std::istreambuf_iterator<char>(written), std::istreambuf_iterator<char>()};
  const auto first = text.find("<timestep time=\"0.0");
  text.erase(first, text.find("<timestep time=\"0.4") - first);
  const auto converted =
      data_prep("convert --scenes " + write("cut.fcd.xml", text) + " --network " + kScenarios +
                "merge/merge.net.xml --out " + path("fcd.h5"));
  ASSERT_EQ(converted.exit_code, 0) << converted.output;
  const auto verified = data_prep("verify " + path("fcd.h5"));
  EXPECT_EQ(verified.exit_code, 0) << verified.output;
  const auto expected = SceneReader(path("data/merge_quick-0000.h5")).read(0);
  const auto found = SceneReader(path("fcd.h5")).read(0);
  ASSERT_EQ(found.num_frames(), expected.num_frames());
  std::size_t compared = 0;
  for (std::size_t f = 0; f < expected.num_frames(); ++f) {
    const auto there = found.frame(f);
    ASSERT_EQ(there.size(), expected.frame(f).size()) << f;
    for (const auto& a : expected.frame(f)) {
      const auto b = std::find_if(there.begin(), there.end(), [&](const auto& node) {
        return std::hypot(a.x_m - node.x_m, a.y_m - node.y_m) < 0.01F;
      });
      ASSERT_NE(b, there.end()) << f;
      EXPECT_NEAR(a.heading_rad, b->heading_rad, 1e-4);
      EXPECT_NEAR(a.speed_mps, b->speed_mps, 1e-4);
      EXPECT_EQ(a.lane, b->lane);
      ++compared;
    }
  }
  EXPECT_GT(compared, 500U);
}

std::string car(double x, double y, double angle, const std::string& name = "a") {
  return "<vehicle id=\"" + name + "\" x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) +
         "\" angle=\"" + std::to_string(angle) + "\" type=\"hv\" speed=\"20\" pos=\"" +
         std::to_string(x) + "\" lane=\"in_0\"/>";
}

std::string straight_network() {
  return "<net><edge id=\"in\" from=\"p\" to=\"q\"><lane id=\"in_0\" index=\"0\" speed=\"30\" "
         "length=\"1000\" shape=\"0,-1.6 1000,-1.6\"/></edge></net>";
}

TEST_F(Scenes, FramesBetweenTheTimesOfARecordingAreInterpolated) {
  std::string text = "<fcd-export>";
  for (int i = 0; i <= 10; ++i) {  // a time every 0.4 s; "a" moves to the left within its lane
    text += "<timestep time=\"" + std::to_string(5.0 + 0.4 * i) + "\">" +
            car(100 + 8.0 * i, -1.6 + 0.04 * i, 90.0 - 0.1 * i) + "</timestep>";
  }
  const std::string network = write("straight.net.xml", straight_network());
  const std::string input = write("straight.fcd.xml", text + "</fcd-export>");
  const auto done = data_prep("convert --scenes " + input + " --network " + network +
                              " --vehicle-length 4 --vehicle-width 2 --out " + path("out.h5"));
  ASSERT_EQ(done.exit_code, 0) << done.output;
  const auto scene = SceneReader(path("out.h5")).read(0);
  ASSERT_EQ(scene.num_frames(), 9U);  // 0, 0.5, ... 4 s after the first time
  ASSERT_EQ(scene.vehicles.size(), 1U);
  EXPECT_EQ(scene.vehicles[0].type, "hv");
  EXPECT_EQ(scene.vehicles[0].length_m, 4.0F);
  EXPECT_EQ(scene.vehicles[0].width_m, 2.0F);
  for (std::size_t f = 0; f < scene.num_frames(); ++f) {
    ASSERT_EQ(scene.frame(f).size(), 1U);
    const auto& node = scene.frame(f)[0];
    const double steps = static_cast<double>(f) * 0.5 / 0.4;
    const double heading = 0.1 * steps * 3.14159265 / 180.0;
    EXPECT_NEAR(node.heading_rad, heading, 1e-6);
    EXPECT_NEAR(node.x_m, 100 + 8.0 * steps - 2.0 * std::cos(heading), 1e-3);
    EXPECT_NEAR(node.y_m, -1.6 + 0.04 * steps - 2.0 * std::sin(heading), 1e-3);
    EXPECT_EQ(node.lane, 0);
    EXPECT_EQ(node.route, 0);
  }
  EXPECT_THAT(scene.route_edges, testing::ElementsAre(0));
}

TEST_F(Scenes, UnsuitableOptionsAndRecordingsAreExplained) {
  const std::string network = write("straight.net.xml", straight_network());
  const auto expect = [&](const std::string& arguments, ExitCode code, const char* words) {
    const auto done = data_prep(arguments);
    EXPECT_EQ(done.exit_code, static_cast<int>(code)) << arguments << "\n" << done.output;
    EXPECT_THAT(done.output, HasSubstr(words)) << arguments;
  };
  std::string slow = "<fcd-export>";
  std::string other = "<fcd-export>";
  for (int i = 0; i < 6; ++i) {
    slow += "<timestep time=\"" + std::to_string(i) + "\">" + car(100 + 20.0 * i, -1.6, 90) +
            "</timestep>";
    std::string there = car(100 + 10.0 * i, -1.6, 90);
    there.replace(there.find("in_0"), 4, "no_0");
    other += "<timestep time=\"" + std::to_string(0.5 * i) + "\">" + there + "</timestep>";
  }
  const std::string slow_file = write("slow.fcd.xml", slow + "</fcd-export>");
  const std::string other_file = write("other.fcd.xml", other + "</fcd-export>");
  const std::string out = " --out " + path("out.h5");
  expect("convert --scenes " + slow_file + out, ExitCode::kConfig, "name the network");
  expect("convert --scenes " + slow_file + " --network " + network + out, ExitCode::kData,
         "scenes need positions at least every 0.5 s");
  expect("convert --scenes " + other_file + " --network " + network + out, ExitCode::kData,
         "lane 'no_0', which is not in the --network");
  expect("record --scenes --record-every 2 --out " + path("x"), ExitCode::kConfig,
         "remove --control, --record-every and --float16");
  expect("record --scenes --scenario nowhere --out " + path("x"), ExitCode::kData, "nowhere");
  EXPECT_FALSE(fs::exists(path("out.h5")));
}

TEST_F(Scenes, InspectShowsMapsAndEpisodes) {
  ASSERT_EQ(data_prep("record --scenes --scenario merge_quick --episodes 1 --set "
                      "env.max_time_s=10 --out " +
                      path("data"))
                .exit_code,
            0);
  const auto shown = data_prep("inspect --json " + path("data/merge_quick-0000.h5"));
  ASSERT_EQ(shown.exit_code, 0) << shown.output;
  const auto described = nlohmann::json::parse(shown.output).at(0);
  EXPECT_EQ(described["attributes"]["format"], "traffic-scenes 1");
  EXPECT_EQ(described["maps"][0]["map"], "merge");
  EXPECT_EQ(described["episodes"][0]["frames"], 20);
  EXPECT_THAT(data_prep("inspect " + path("data/merge_quick-0000.h5")).output,
              HasSubstr("traffic-scenes 1"));
}

}  // namespace
}  // namespace traffic
