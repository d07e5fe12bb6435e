/// Runs data_prep convert as users do, on small recordings and on the output of SUMO.
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/run_folder_test.h"
#include "traffic/core/error.h"
#include "traffic/data/reader.h"

namespace traffic {
namespace {

namespace fs = std::filesystem;
using data::DatasetReader;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string kFixtures = TRAFFIC_SOURCE_DIR "/tests/data_prep/fixtures/";
const std::string kMerge = TRAFFIC_SOURCE_DIR "/configs/scenarios/merge/";

std::size_t column(std::string_view name) {
  return static_cast<std::size_t>(scene::node_feature_index(name));
}

float feature(const scene::GraphFrame& frame, std::size_t node, std::string_view name) {
  return frame.node_features[node * scene::node_features().size() + column(name)];
}

class Convert : public test::RunFolderTest {
 protected:
  [[nodiscard]] test::Outcome convert(const std::string& arguments,
                                      const std::string& before = "") const {
    return test::run_program(
        "sh -c '" + before + TRAFFIC_BIN_DIR "/data_prep convert " + arguments + "'", 60);
  }
  [[nodiscard]] std::string out(const std::string& name = "out.h5") const { return dir_ / name; }
  [[nodiscard]] std::uint64_t hash_of(const std::string& input, const std::string& before = "",
                                      const std::string& arguments = "") const {
    const auto done = convert(input + " --force --out " + out() + " " + arguments, before);
    EXPECT_EQ(done.exit_code, 0) << done.output;
    return done.exit_code == 0 ? DatasetReader(out()).info().content_hash : 0;
  }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(dir_ / name) << text;
    return dir_ / name;
  }
  [[nodiscard]] std::string tiny_xml() const {
    std::ifstream file(kFixtures + "tiny.fcd.xml");
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  [[nodiscard]] std::string replaced(const std::string& what, const std::string& by) const {
    std::string text = tiny_xml();
    const auto at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return text.replace(at, what.size(), by);
  }
};

TEST_F(Convert, KeepsThePrintedDigitsOfFloatingCarData) {
  const auto done = convert(kFixtures + "tiny.fcd.xml --json --out " + out());
  ASSERT_EQ(done.exit_code, 0) << done.output;
  const DatasetReader file(out());
  ASSERT_EQ(file.num_frames(), 3);
  EXPECT_EQ(file.info().frame_interval_s, 1.0);
  const auto first = file.read_graph_frame(0);
  EXPECT_THAT(first.vehicle_id, ElementsAre(0U, 1U));
  EXPECT_THAT(first.xy_m, ElementsAre(100.25F, -1.6F, 70.25F, -1.6F));
  EXPECT_EQ(feature(first, 0, "speed_mps"), 20.0F);
  EXPECT_EQ(feature(first, 1, "acceleration_mps2"), -0.25F);
  EXPECT_EQ(feature(first, 1, "leader_gap_m"), 25.0F);
  EXPECT_EQ(feature(first, 1, "leader_speed_mps"), -2.5F);
  EXPECT_EQ(feature(first, 0, "follower_gap_m"), 25.0F);
  EXPECT_EQ(feature(first, 0, "is_cv"), 1.0F);
  EXPECT_EQ(feature(first, 1, "is_cv"), 0.0F);
  EXPECT_EQ(feature(first, 0, "lane_index"), 1.0F);
  EXPECT_THAT(first.edge_src, ElementsAre(1, 0));
  EXPECT_EQ(first.edge_features[0], -30.0F);  // b is behind a
  const auto second = file.read_graph_frame(1);
  EXPECT_EQ(feature(second, 0, "position_m"), 20.25F);
  EXPECT_EQ(feature(second, 1, "position_m"), 22.25F);
  const auto third = file.read_graph_frame(2);
  EXPECT_THAT(third.vehicle_id, ElementsAre(1U));
  EXPECT_NEAR(feature(third, 0, "position_m"), 22.25 + std::hypot(21.75, 3.2), 1e-4);
  EXPECT_EQ(feature(third, 0, "lane_index"), 2.0F);
  EXPECT_THAT(done.output, HasSubstr("the validation split, which training needs, has no episode"));
}

TEST_F(Convert, TheSameTrafficIsTheSameDataInEveryFormAndFromAPipe) {
  const std::string xml = kFixtures + "tiny.fcd.xml";
  const auto expected = hash_of(xml);
  EXPECT_EQ(hash_of(kFixtures + "tiny.fcd.csv"), expected);
  EXPECT_EQ(hash_of(kFixtures + "tiny_json"), expected);
  EXPECT_EQ(hash_of(kFixtures + "tiny_json/metadata.json", "", "--from json"), expected);
  ASSERT_EQ(test::run_program("sh -c 'gzip -c " + xml + " >" + out("t.gz") + "'").exit_code, 0);
  EXPECT_EQ(hash_of(out("t.gz")), expected);
  EXPECT_EQ(hash_of("-", "cat " + xml + " | "), expected);
  EXPECT_EQ(hash_of("-", "cat " + out("t.gz") + " | "), expected);
}

TEST_F(Convert, WithoutAccelerationsItTakesDifferencesOfTheSpeeds) {
  std::string text = tiny_xml();
  for (std::size_t at = 0; (at = text.find(" acceleration=\"")) != std::string::npos;) {
    text.erase(at, text.find('"', at + 15) + 1 - at);
  }
  ASSERT_EQ(convert(write("plain.xml", text) + " --out " + out()).exit_code, 0);
  const DatasetReader file(out());
  EXPECT_EQ(feature(file.read_graph_frame(0), 0, "acceleration_mps2"), 0.0F);
  EXPECT_EQ(feature(file.read_graph_frame(1), 0, "acceleration_mps2"), 0.5F);
  EXPECT_EQ(feature(file.read_graph_frame(1), 1, "acceleration_mps2"), -0.5F);
}

TEST_F(Convert, SaysWhichFeaturesTheSourceDoesNotKnow) {
  const auto done = convert(kFixtures + "tiny.fcd.xml --json --out " + out());
  ASSERT_EQ(done.exit_code, 0) << done.output;
  EXPECT_THAT(done.output, HasSubstr("own_queue"));
  const auto& table = DatasetReader(out()).info().node_features;
  EXPECT_TRUE(table[column("leader_gap_m")].present);
  EXPECT_TRUE(table[column("is_cv")].present);
  EXPECT_FALSE(table[column("remaining_m")].present);
  EXPECT_FALSE(table[column("commanded")].present);
  const auto inspected = test::run_program(TRAFFIC_BIN_DIR "/data_prep inspect " + out());
  EXPECT_THAT(inspected.output, HasSubstr("missing_features"));
  EXPECT_THAT(inspected.output, HasSubstr("own_queue"));
  const auto verified = test::run_program(TRAFFIC_BIN_DIR "/data_prep verify " + out());
  EXPECT_EQ(verified.exit_code, 0) << verified.output;
  EXPECT_THAT(verified.output, HasSubstr("does not have the features"));
  // Without connected vehicles, the features about them are missing.
  ASSERT_EQ(convert(kFixtures + "tiny.fcd.xml --force --cv-types none --out " + out()).exit_code,
            0);
  EXPECT_FALSE(DatasetReader(out()).info().node_features[column("is_cv")].present);
}

TEST_F(Convert, ReadsNgsimInBothSpellingsAndTellsReusedNumbersApart) {
  const auto old_hash = hash_of(kFixtures + "ngsim_old.csv");
  EXPECT_EQ(hash_of(kFixtures + "ngsim_new.csv"), old_hash);
  const DatasetReader file(out());
  ASSERT_EQ(file.num_frames(), 3);
  EXPECT_NEAR(file.info().frame_interval_s, 0.1, 1e-6);
  const auto second = file.read_graph_frame(1);
  ASSERT_THAT(second.vehicle_id, ElementsAre(0U, 1U));  // two vehicles, both called 7
  EXPECT_FLOAT_EQ(second.xy_m[1], 104.0F * 0.3048F);
  EXPECT_FLOAT_EQ(feature(second, 0, "speed_mps"), 41.0F * 0.3048F);
  EXPECT_EQ(feature(second, 0, "lane_index"), 1.0F);  // the second of three from the left
  EXPECT_EQ(feature(second, 1, "lane_index"), 0.0F);
  // The accelerations +11.2, -11.2, +11.2 ft/s2 are noise; smoothing leaves at most a third of
  // them.
  EXPECT_LT(std::abs(feature(second, 0, "acceleration_mps2")), 1.6F);
  EXPECT_THAT(convert(kFixtures + "ngsim_old.csv --force --out " + out()).output,
              HasSubstr("accelerations smoothed over 1 s"));
}

/// A table of NGSIM with its header.
std::string ngsim_table(const std::string& rows) {
  return "Vehicle_ID,Frame_ID,Total_Frames,Global_Time,Local_X,Local_Y,Global_X,Global_Y,v_length,"
         "v_Width,v_Class,v_Vel,v_Acc,Lane_ID,O_Zone,D_Zone,Int_ID,Section_ID,Direction,Movement,"
         "Preceding,Following,Space_Headway,Time_Headway,Location\n" +
         rows;
}

/// A vehicle that drives at 40 ft/s along Local_Y, or against it, for two seconds.
std::string ngsim_vehicle(int id, std::int64_t start_ms, double first_y_ft, int lane,
                          const std::string& place, const std::string& direction = "",
                          int sign = 1) {
  std::string rows;
  for (int i = 0; i < 20; ++i) {
    rows +=
        fmt::format("{},{},20,{},6.0,{:.1f},0,0,15.0,6.0,2,40.00,0.00,{},,,,,{},,0,0,0,0,{}\n", id,
                    i, start_ms + 100 * i, first_y_ft + sign * 4.0 * i, lane, direction, place);
  }
  return rows;
}

TEST_F(Convert, NgsimLocationsMayComeInAnyOrder) {
  const auto done =
      convert(write("all.csv", ngsim_table(ngsim_vehicle(2, 1118846980200, 0, 1, "us-101") +
                                           ngsim_vehicle(3, 1113433135300, 0, 2, "i-80"))) +
              " --json --out " + out() + " 2>" + out("err"));
  ASSERT_EQ(done.exit_code, 0) << done.output;
  EXPECT_EQ(nlohmann::json::parse(done.output)["inputs"][0]["rows"], 40);
  const DatasetReader file(out());
  EXPECT_EQ(file.info().frame_interval_s, 0.1);
  ASSERT_EQ(file.episodes().size(), 2U);
  EXPECT_EQ(file.episodes()[1].num_frames, 20);
  EXPECT_THAT(file.read_times(20, 2), ElementsAre(0.1, 0.2));
}

TEST_F(Convert, NgsimVehiclesDrivingSouthHaveTheirLeadersAhead) {
  // Vehicle 4 follows vehicle 5 to the south; vehicle 6 drives north on a lane with the same
  // number.
  const std::string rows = ngsim_vehicle(4, 1118935680200, 500, 1, "lankershim", "4", -1) +
                           ngsim_vehicle(5, 1118935680200, 400, 1, "lankershim", "4", -1) +
                           ngsim_vehicle(6, 1118935680200, 450, 1, "lankershim", "2");
  ASSERT_EQ(convert(write("south.csv", ngsim_table(rows)) + " --out " + out()).exit_code, 0);
  const auto frame = DatasetReader(out()).read_graph_frame(10);
  ASSERT_THAT(frame.vehicle_id, ElementsAre(0U, 1U, 2U));
  EXPECT_NEAR(feature(frame, 0, "leader_gap_m"), (100 - 15) * 0.3048, 1e-3);
  EXPECT_NEAR(feature(frame, 1, "follower_gap_m"), (100 - 15) * 0.3048, 1e-3);
  for (const std::size_t alone : {1U, 2U}) EXPECT_GT(feature(frame, alone, "leader_gap_m"), 99.0F);
  // Without the column Direction, convert derives the direction from the movements.
  std::string unstated = rows;
  for (const char* column : {",,,,4,,", ",,,,2,,"}) {
    for (std::size_t at = 0; (at = unstated.find(column)) != std::string::npos;) {
      unstated.replace(at, 7, ",,,,,,");
    }
  }
  const auto expected = DatasetReader(out()).info().content_hash;
  EXPECT_EQ(hash_of(write("unstated.csv", ngsim_table(unstated))), expected);
}

TEST_F(Convert, NgsimTurnBaysAreBesideTheThroughLanes) {
  std::string rows;
  for (const int lane : {11, 1, 2, 31}) {
    rows += ngsim_vehicle(lane, 1118935680200, 10.0 * lane, lane, "peachtree", "2");
  }
  ASSERT_EQ(convert(write("bays.csv", ngsim_table(rows)) + " --out " + out()).exit_code, 0);
  const auto frame = DatasetReader(out()).read_graph_frame(0);
  for (const std::size_t i : {0U, 1U, 2U, 3U}) {
    EXPECT_EQ(feature(frame, i, "lane_index"), 3.0F - static_cast<float>(i));
  }
}

TEST_F(Convert, ReadsNgsimAsPublishedByPeriodWithoutAHeader) {
  const auto expected = hash_of(kFixtures + "ngsim_old.csv");
  std::ifstream file(kFixtures + "ngsim_old.csv");
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  text = text.substr(text.find('\n') + 1);
  EXPECT_EQ(hash_of(write("commas.csv", text)), expected);
  std::replace(text.begin(), text.end(), ',', ' ');
  EXPECT_EQ(hash_of(write("blanks.txt", "   " + text)), expected);
}

TEST_F(Convert, EmptyLinesBeforeATableAreSkipped) {
  const auto expected = hash_of(kFixtures + "ngsim_old.csv");
  std::ifstream file(kFixtures + "ngsim_old.csv");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_EQ(hash_of(write("header.csv", "\n \r\n" + text)), expected);
  EXPECT_EQ(hash_of(write("rows.csv", "\n\n" + text.substr(text.find('\n') + 1))), expected);
}

TEST_F(Convert, OutputsOfOneCallHaveDifferentNames) {
  const std::string rows = ngsim_table(ngsim_vehicle(2, 1118846980200, 0, 1, "us-101"));
  std::filesystem::create_directory(dir_ / "other");
  const std::string inputs =
      write("a-1.csv", rows) + " " + write("a.csv", rows) + " " + write("other/a.csv", rows);
  ASSERT_EQ(convert(inputs + " --out " + (dir_ / "named").string()).exit_code, 0);
  for (const char* name : {"a-1.h5", "a.h5", "a-2.h5"}) {
    EXPECT_TRUE(std::filesystem::exists(dir_ / "named" / name)) << name;
  }
}

TEST_F(Convert, RepeatedRowsAreDroppedAndContradictoryOnesRefused) {
  const std::string rows = ngsim_vehicle(2, 1118846980200, 0, 1, "us-101");
  const auto expected = hash_of(write("once.csv", ngsim_table(rows)));
  const std::string row = rows.substr(0, rows.find('\n') + 1);
  const std::string repeated = write("repeated.csv", ngsim_table(rows + row));
  EXPECT_EQ(hash_of(repeated), expected);
  EXPECT_THAT(convert(repeated + " --force --out " + out()).output,
              HasSubstr("dropped 1 row, as others say the same"));
  std::string other = row;
  other.replace(other.find("6.0,0.0"), 7, "9.0,0.0");
  const auto done =
      convert(write("other.csv", ngsim_table(rows + other)) + " --force --out " + out());
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_THAT(done.output,
              HasSubstr("other.csv:22: vehicle '2.20' is listed twice at the same time "
                        "(also in line 2)"));
}

/// Floating car data of three vehicles that drive to the right at 10, 12 and 14 m/s.
std::string straight_traffic(double first_s, double step_s, double metre = 1, double speed = 1) {
  std::string text = "timestep_time;vehicle_id;vehicle_x;vehicle_y;vehicle_speed\n";
  for (int t = 0; t < 40; ++t) {
    for (int v = 0; v < 3; ++v) {
      text += fmt::format("{:.2f};{};{:.7f};0.00;{:.2f}\n", first_s + step_s * t, v,
                          (10 + 2 * v) * step_s * t * metre, (10 + 2 * v) * speed);
    }
  }
  return text;
}

TEST_F(Convert, AbsoluteTimesGiveTheSameStepAsRelativeTimes) {
  const std::string inputs = write("a.csv", straight_traffic(0, 0.1)) + " " +
                             write("b.csv", straight_traffic(1118846980.2, 0.1)) + " " +
                             write("c.csv", straight_traffic(1113433135.3, 0.1));
  const auto done = convert(inputs + " --out " + out());
  ASSERT_EQ(done.exit_code, 0) << done.output;
  const DatasetReader file(out());
  ASSERT_EQ(file.episodes().size(), 3U);
  EXPECT_EQ(file.info().frame_interval_s, 0.1);
  for (const std::int64_t first : {0, 40, 80}) EXPECT_NEAR(file.read_times(first, 1)[0], 0.1, 1e-6);
  EXPECT_EQ(test::run_program(TRAFFIC_BIN_DIR "/data_prep verify " + out()).exit_code, 0);
}

TEST_F(Convert, TheStepIsTheMostFrequentOneNotTheFirst) {
  std::string text = straight_traffic(5, 1);
  const auto header = text.find('\n') + 1;
  const auto done =
      convert(write("late.csv", text.insert(header, "0.00;z;500;0;0\n")) + " --out " + out());
  ASSERT_EQ(done.exit_code, 0) << done.output;
  const DatasetReader file(out());
  EXPECT_EQ(file.info().frame_interval_s, 1.0);
  EXPECT_EQ(file.episodes().size(), 2U);
}

TEST_F(Convert, UnitsThatContradictEachOtherAreRefused) {
  const auto refused = [&](const std::string& text, const std::string& said) {
    const auto done = convert(write("units.csv", text) + " --on-error skip --out " + out("bad.h5"));
    EXPECT_EQ(done.exit_code, 3) << done.output;
    EXPECT_THAT(done.output, HasSubstr(said));
  };
  refused(straight_traffic(0, 1, 1, 3.6), "the speeds may be km/h");
  refused(straight_traffic(0, 1, 1 / 0.3048), "the coordinates may be feet");
  refused(straight_traffic(0, 0.1, 1, 1 / 0.44704), "the speeds may be mph");
  refused(straight_traffic(0, 1, 1.5e-5),
          "units.csv:8: according to their coordinates, vehicles cover 1.49e-05 times the distance "
          "that follows from their speeds");
  std::string km_h;
  for (const int id : {1, 2, 3, 4}) {
    km_h += ngsim_vehicle(id, 1118846980200, 50.0 * id, 1, "us-101");
  }
  km_h = ngsim_table(km_h);
  for (std::size_t at = 0; (at = km_h.find(",40.00,")) != std::string::npos;) {
    km_h.replace(at, 7, ",43.89,");
  }
  refused(km_h, "the speeds may be km/h where ft/s are expected");
  // A table of NGSIM in metres is consistent in itself, but its vehicles are short.
  std::string metres = ngsim_table(ngsim_vehicle(2, 1118846980200, 0, 1, "us-101"));
  for (std::size_t at = 0; (at = metres.find(",15.0,")) != std::string::npos;) {
    metres.replace(at, 6, ",4.5,");
  }
  refused(metres, "half of the vehicles are at most 4.5 feet long");
}

TEST_F(Convert, AVehicleThatJumpsCountsAsANewVehicle) {
  std::string text = straight_traffic(0, 1);
  for (int t = 30; t < 40; ++t) {
    const std::string old_place = fmt::format("{}.00;0;{}.0000000;", t, 10 * t);
    text.replace(text.find(old_place), old_place.size(),
                 fmt::format("{}.00;0;{};", t, 10 * t + 900));
  }
  const auto done =
      convert(write("jump.csv", text) + " --json --out " + out() + " 2>" + out("err"));
  ASSERT_EQ(done.exit_code, 0) << done.output;
  EXPECT_EQ(nlohmann::json::parse(done.output)["inputs"][0]["jumps"], 1);
  const DatasetReader file(out());
  EXPECT_THAT(file.read_graph_frame(29).vehicle_id, ElementsAre(0U, 1U, 2U));
  EXPECT_THAT(file.read_graph_frame(30).vehicle_id, ElementsAre(3U, 1U, 2U));
  EXPECT_EQ(feature(file.read_graph_frame(31), 0, "position_m"), 10.0F);
}

TEST_F(Convert, ReadsHighDWithFrontBumpersAndLanesFromTheRight) {
  const auto done = convert(kFixtures + "01_tracks.csv --out " + out());
  ASSERT_EQ(done.exit_code, 0) << done.output;
  const DatasetReader file(out());
  ASSERT_EQ(file.num_frames(), 3);
  EXPECT_NEAR(file.info().frame_interval_s, 0.04, 1e-9);
  const auto frame = file.read_graph_frame(1);
  ASSERT_EQ(frame.num_nodes(), 2);
  EXPECT_FLOAT_EQ(frame.xy_m[0], 298.72F);        // the front of a car that drives left
  EXPECT_FLOAT_EQ(frame.xy_m[2], 51.0F + 12.0F);  // the front of a car that drives right
  EXPECT_FLOAT_EQ(frame.xy_m[3], -(25.5F + 1.25F));
  EXPECT_FLOAT_EQ(feature(frame, 0, "speed_mps"), 32.01F);
  EXPECT_FLOAT_EQ(feature(frame, 0, "acceleration_mps2"), 0.3F);
  EXPECT_NEAR(feature(frame, 0, "position_m"), 1.28, 1e-4);
  EXPECT_FLOAT_EQ(feature(frame, 0, "speed_limit_mps"), 33.33F);
  EXPECT_TRUE(file.info().node_features[column("speed_limit_mps")].present);
}

TEST_F(Convert, ErrorsNameFileAndLineAndEndWithExitCode3) {
  struct Case {
    std::string input;
    std::string said;
  };
  const std::vector<Case> cases = {
      {write("speed.xml", replaced("speed=\"22.50\"", "speed=\"fast\"")),
       "speed.xml:5: vehicle 'b': speed is 'fast', expected a number"},
      {write("nan.xml", replaced("x=\"70.25\"", "x=\"nan\"")),
       "nan.xml:5: vehicle 'b': x is 'nan'"},
      {write("twice.xml", replaced("id=\"b\"", "id=\"a\"")),
       "twice.xml:5: vehicle 'a' is listed twice at the same time"},
      {write("back.xml", replaced("time=\"12.00\"", "time=\"10.50\"")),
       "back.xml:12: the time 10.5 s follows 11 s, expected a later time"},
      {write("between.xml", replaced("time=\"12.00\"", "time=\"11.50\"")),
       "between.xml:12: the frame at 11.5 s comes 0.5 s after the previous frame"},
      {write("clock.xml", replaced("time=\"11.00\"", "time=\"0:00:11\"")),
       "clock.xml:7: the time of the step is '0:00:11'"},
      {write("cut.xml", tiny_xml().substr(0, 900)), "the XML is not well-formed here"},
      {write("entities.xml", "<!DOCTYPE a [<!ENTITY b \"c\">]><fcd-export/>"), "document type"},
      {write("other.xml", "<routes/>"), "found <routes>, expected <fcd-export>"},
      {write("empty.xml", ""), "is empty"},
      {write("noise.txt", "once upon a time"), "cannot guess the format"},
      {write("one.xml", "<fcd-export><timestep time=\"1\"/></fcd-export>"),
       "has fewer than two frames"},
      {write("row.csv", "timestep_time;vehicle_id;vehicle_x\n0;a\n"),
       "row.csv:2: the row has 2 fields, the header has 3"},
      {write("time.csv", "vehicle_id;timestep_time\na;now\n"),
       "time.csv:2: timestep_time is 'now', expected a number"},
      {write("fast.xml", replaced("speed=\"22.50\"", "speed=\"1219.2\"")),
       "fast.xml:5: vehicle 'b': the speed is 1219.2 m/s, expected 0 to 150"},
      {write("backwards.xml", replaced("speed=\"22.50\"", "speed=\"-5\"")),
       "backwards.xml:5: vehicle 'b': the speed is -5 m/s"},
      {write("leap.xml", replaced("speed=\"20.50\"", "speed=\"60.00\"")),
       "leap.xml:8: vehicle 'a': the speed changes from 20 to 60 m/s within 1 s"},
      {write("pull.xml", replaced("acceleration=\"-0.25\"", "acceleration=\"95\"")),
       "pull.xml:5: vehicle 'b': the acceleration is 95 m/s2"},
      {write("far.xml", replaced("x=\"70.25\"", "x=\"-1073741824.00\"")),
       "far.xml:5: vehicle 'b': x is -1.07374e+09 m"},
      {write("comma.csv", "timestep_time;vehicle_id;vehicle_x\n0,5;a;1\n"),
       "comma.csv:2: timestep_time is '0,5', expected a number with a decimal point"},
      {write("thousands.csv", "timestep_time;vehicle_id;vehicle_x\n1,500;a;1\n"),
       "thousands.csv:2: timestep_time is '1,500', expected a number with a decimal point"},
      {write("unit.csv", "timestep_time;vehicle_id;vehicle_speed [km/h]\n0;a;1\n"),
       "unit.csv:1: the header states a unit for the column 'vehicle_speed [km/h]' that this "
       "program does not convert; "
       "expected "
       "m/s"},
      {write("columns.csv", "timestep_time;vehicle_id;vehicle_x;Vehicle_X\n0;a;1;2\n"),
       "columns.csv:1: the header has the column 'vehicle_x' twice"},
      {write("rounded.csv", straight_traffic(0, 1.0 / 30)), "write times with all digits"},
      {write("wide.txt", std::string("\xFF\xFE<\0f\0", 6)), "is UTF-16 or not a text"},
      {write("numbers.csv", "1,2,3\n4,5,6\n"), "numbers.csv:1: cannot guess the format"},
      {write("someone.csv",
             "timestep_time;vehicle_id;vehicle_x;vehicle_y;vehicle_speed;vehicle_lane\n"
             "0;p;1;1;1;\n"),
       "someone.csv:2: 'p' is not on a lane, so it may be a person"},
      {write("index.json",
             "{\"samples\": [\n{\"time_s\": 1, \"vehicles\": [{\"id\": 1, \"x_m\": 1, "
             "\"y_m\": 2, \"speed_mps\": 1, \"lane_index\": 1e300}]}]}"),
       "index.json:2: vehicle '1': lane_index is 1e+300"},
      {write("bad.json",
             "{\"samples\": [\n{\"time_s\": 1, \"vehicles\": [{\"id\": \"a\", "
             "\"x_m\": 1, \"y_m\": 2}]}]}"),
       "bad.json:2: vehicle 'a' has no speed_mps"},
      {write("syntax.json", "{\"samples\": [\n{\"time_s\": 1,,"),
       "the JSON is not well-formed here"},
      {write("02_tracks.csv", "frame,id,xVelocity,laneId\n"), "is missing"},
      {"/nowhere/at/all.xml", "cannot be opened"},
  };
  for (const auto& [input, said] : cases) {
    const auto done = convert(input + " --out " + out("bad/bad.h5"));
    EXPECT_EQ(done.exit_code, 3) << input << done.output;
    EXPECT_THAT(done.output, HasSubstr(said)) << input;
  }
  ASSERT_EQ(test::run_program("sh -c 'gzip -c " + kFixtures + "tiny.fcd.xml | head -c 200 >" +
                              out("cut.gz") + "'")
                .exit_code,
            0);
  const auto cut = convert(out("cut.gz") + " --out " + out("bad/bad.h5"));
  EXPECT_EQ(cut.exit_code, 3);
  EXPECT_THAT(cut.output, HasSubstr("the file is damaged or was cut off"));
  EXPECT_TRUE(fs::is_empty(dir_ / "bad"));  // there is not even an incomplete file
}

TEST_F(Convert, OnRequestInvalidRowsAreSkippedAndCounted) {
  const std::string input = write("speed.xml", replaced("speed=\"22.50\"", "speed=\"fast\""));
  const auto done = convert(input + " --on-error skip --json --out " + out() + " 2>" + out("err"));
  ASSERT_EQ(done.exit_code, 0) << done.output;
  const auto said = nlohmann::json::parse(done.output, nullptr, false);
  ASSERT_FALSE(said.is_discarded()) << done.output;
  EXPECT_EQ(said["inputs"][0]["skipped"], 1);
  EXPECT_THAT(said["inputs"][0]["skipped_examples"][0].get<std::string>(), HasSubstr("'fast'"));
  EXPECT_EQ(said["inputs"][0]["rows"], 4);
  // convert keeps the frames before the end of a truncated file.
  const std::string cut = write("cut.xml", tiny_xml().substr(0, tiny_xml().find("\"12.00\"")));
  const auto part =
      convert(cut + " --on-error skip --json --force --out " + out() + " 2>" + out("err"));
  ASSERT_EQ(part.exit_code, 0) << part.output;
  EXPECT_EQ(nlohmann::json::parse(part.output)["inputs"][0]["frames"], 2);
}

TEST_F(Convert, LostChunksAreNoticed) {
  fs::copy(kFixtures + "tiny_json", dir_ / "chunks", fs::copy_options::recursive);
  write("chunks/metadata.json", "{\"chunks\": [\"chunks/chunk_000.json\"]}");
  const auto done = convert((dir_ / "chunks").string() + " --out " + out());
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_THAT(done.output, HasSubstr("states 3 samples, but the chunks have 2"));
  write("chunks/metadata.json", "{\"chunks\": [\"../secret.json\"]}");
  EXPECT_THAT(convert((dir_ / "chunks").string() + " --out " + out()).output,
              HasSubstr("expected the name of a file in the folder"));
}

TEST_F(Convert, AGapBeginsAnEpisodeAndEpisodesAreSharedAmongSplits) {
  std::string text = "<fcd-export>\n";
  for (int t = 0; t < 40; ++t) {
    const int time = t < 20 ? t : t + 5;
    text += "<timestep time=\"" + std::to_string(time) + "\"><vehicle id=\"a\" x=\"" +
            std::to_string(10 * time) + "\" y=\"0\" speed=\"10\"/></timestep>\n";
  }
  const auto done =
      convert(write("gap.xml", text + "</fcd-export>") + " --episode-s 10 --out " + out());
  ASSERT_EQ(done.exit_code, 0) << done.output;
  const DatasetReader file(out());
  ASSERT_EQ(file.episodes().size(), 4U);
  EXPECT_EQ(file.episodes()[0].split, data::Split::kTrain);
  EXPECT_EQ(file.episodes()[1].split, data::Split::kValidation);
  EXPECT_EQ(file.episodes()[2].split, data::Split::kTest);
  // The vehicle keeps its number across episodes without a gap; after the gap it counts as a new
  // vehicle.
  EXPECT_EQ(file.read_graph_frame(10).vehicle_id.front(), 0U);
  EXPECT_EQ(feature(file.read_graph_frame(10), 0, "position_m"), 100.0F);
  EXPECT_EQ(file.read_graph_frame(20).vehicle_id.front(), 1U);
  EXPECT_EQ(feature(file.read_graph_frame(20), 0, "position_m"), 0.0F);
  EXPECT_FALSE(
      file.info().node_features[column("leader_gap_m")].present);  // the recording has no lanes
}

TEST_F(Convert, OldFilesStayUnlessForced) {
  const std::string mine = write("out.h5", "mine");
  const auto done = convert(kFixtures + "tiny.fcd.xml --out " + out());
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.output, HasSubstr("--force"));
  EXPECT_EQ(convert(kFixtures + "tiny.fcd.xml --on-error never --out " + out()).exit_code, 2);
}

TEST_F(Convert, InterruptedItLeavesNothingUnderTheFinalName) {
  ASSERT_EQ(test::run_program("mkfifo " + out("pipe")).exit_code, 0);
  test::BackgroundProgram feeder("sh -c 'cat " + kFixtures + "tiny.fcd.xml >" + out("pipe") +
                                 "; exec sleep 5 >" + out("pipe") + "'");
  test::BackgroundProgram program(TRAFFIC_BIN_DIR "/data_prep convert - --out " +
                                  out("half/out.h5") + " <" + out("pipe"));
  for (int i = 0; i < 200 && !fs::exists(dir_ / "half"); ++i) usleep(50'000);
  usleep(300'000);
  program.send(SIGKILL);
  program.wait();
  feeder.send(SIGKILL);
  feeder.wait();
  EXPECT_FALSE(fs::exists(out("half/out.h5")));
}

TEST_F(Convert, StopsOnRequestWhileAPipeIsSilent) {
  ASSERT_EQ(test::run_program("mkfifo " + out("pipe")).exit_code, 0);
  // The holder opens the pipe for reading and writing, so that neither side waits or sees an end.
  test::BackgroundProgram holder("sleep 60 <>" + out("pipe"));
  const std::string network = " --network " + kMerge + "merge.net.xml";
  for (const std::string& arguments :
       {"- --out " + out("a.h5") + " <>" + out("pipe"), out("pipe") + " --out " + out("b.h5"),
        "-" + network + " --out " + out("c.h5") + " <>" + out("pipe")}) {
    for (const int signal : {SIGINT, SIGTERM}) {
      test::BackgroundProgram program(TRAFFIC_BIN_DIR "/data_prep convert " + arguments);
      ASSERT_TRUE(program.wait_until_handled(signal));
      usleep(200'000);  // usually enough time to begin to wait for the pipe
      program.send(signal);
      EXPECT_EQ(program.wait(10), static_cast<int>(ExitCode::kStopped)) << arguments;
    }
  }
  holder.send(SIGKILL);
  holder.wait();
}

TEST_F(Convert, ReadsGzipFilesOfSeveralMembersAndPadding) {
  const std::string xml = kFixtures + "tiny.fcd.xml";
  const auto expected = hash_of(xml);
  ASSERT_EQ(test::run_program("sh -c '(head -c 300 " + xml + " | gzip; tail -c +301 " + xml +
                              " | gzip; head -c 100 /dev/zero) >" + out("two.gz") + "'")
                .exit_code,
            0);
  EXPECT_EQ(hash_of(out("two.gz")), expected);
}

/// Compares converted output of SUMO with the episode that `data_prep record` makes from the same
/// seed.
class ConvertSumo : public Convert {
 protected:
  void simulate(const std::string& arguments, int seed = 50) const {
    const auto done = test::run_program(
        TRAFFIC_SUMO " -c " + kMerge + "merge.sumocfg --seed " + std::to_string(seed) +
            " --end 150 --scale 1 --no-step-log "
            "--no-warnings --xml-validation never --precision 6 --fcd-output " +
            arguments,
        60);
    ASSERT_EQ(done.exit_code, 0) << done.output;
  }
  void record() const {
    const auto done = test::run_program(
        TRAFFIC_BIN_DIR
            "/data_prep record --scenario merge --seeds 50 --episodes 1 --steps 150 "
            "--control none --jobs 1 --out " +
            out("recorded"),
        60);
    ASSERT_EQ(done.exit_code, 0) << done.output;
  }
  [[nodiscard]] std::string network() const { return " --network " + kMerge + "merge.net.xml "; }
};

/// Indices of the nodes of a frame, sorted by position, for comparing two frames.
std::vector<std::size_t> by_place(const scene::GraphFrame& frame) {
  std::vector<std::size_t> order(frame.vehicle_id.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto key = [&](std::size_t i) {
      return std::pair(std::lround(frame.xy_m[2 * i + 1]), frame.xy_m[2 * i]);
    };
    return key(a) < key(b);
  });
  return order;
}

TEST_F(ConvertSumo, AConvertedEpisodeHasTheFeaturesOfARecordedOne) {
  simulate(out("fcd.xml"));
  record();
  const auto done = convert(out("fcd.xml") + network() + "--episode-s 0 --out " + out());
  ASSERT_EQ(done.exit_code, 0) << done.output;
  const DatasetReader converted(out());
  const DatasetReader recorded(out("recorded/merge-0000.h5"));
  ASSERT_EQ(converted.num_frames(), recorded.num_frames());
  const auto& table = converted.info().node_features;
  EXPECT_TRUE(table[column("completion")].present);
  EXPECT_TRUE(table[column("zone_density")].present);
  std::int64_t compared = 0;
  for (std::int64_t t = 0; t < recorded.num_frames(); ++t) {
    const auto a = converted.read_graph_frame(t);
    const auto b = recorded.read_graph_frame(t);
    ASSERT_EQ(a.num_nodes(), b.num_nodes()) << t;
    ASSERT_EQ(a.num_edges(), b.num_edges()) << t;
    EXPECT_DOUBLE_EQ(a.time_s, b.time_s);
    const auto order_a = by_place(a);
    const auto order_b = by_place(b);
    for (std::size_t i = 0; i < order_a.size(); ++i) {
      for (const auto& item : table) {
        if (!item.present) continue;
        // SUMO prints six digits; the tolerance covers differences of such numbers.
        ASSERT_NEAR(feature(a, order_a[i], item.name), feature(b, order_b[i], item.name), 2e-3)
            << item.name << " of " << i << " in frame " << t;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 10'000);
}

TEST_F(ConvertSumo, APipeOnANetworkGivesTheSameDataAsTheFile) {
  simulate(out("fcd.xml"));
  const auto expected = hash_of(out("fcd.xml"), "", network());
  EXPECT_EQ(hash_of("-", "cat " + out("fcd.xml") + " | ", network()), expected);
}

TEST_F(ConvertSumo, ReadsSumosOwnTablesAndCompressedFiles) {
  simulate(out("fcd.xml"));
  simulate(out("fcd.csv"));
  simulate(out("fcd.xml.gz"));
  const auto expected = hash_of(out("fcd.xml"));
  EXPECT_EQ(hash_of(out("fcd.xml.gz")), expected);
  EXPECT_EQ(hash_of(out("fcd.csv"), "", "--from fcd"), expected);
}

TEST_F(ConvertSumo, PersonsInSumosTablesAreNoVehicles) {
  const std::string person =
      " --additional-files " +
      write("person.add.xml",
            "<additional><person id=\"p\" type=\"DEFAULT_PEDTYPE\" depart=\"5\"><stop "
            "lane=\"up_0\" endPos=\"50\" duration=\"60\"/></person></additional>");
  simulate(out("fcd.xml") + person);
  simulate(out("fcd.csv") + person);
  EXPECT_EQ(hash_of(out("fcd.csv")), hash_of(out("fcd.xml")));
  EXPECT_THAT(convert(out("fcd.csv") + " --force --out " + out()).output,
              HasSubstr("left out 60 rows of persons and containers"));
}

TEST_F(ConvertSumo, OnlyTheSameTrafficInTwoSplitsIsALeak) {
  simulate(out("one.xml"), 50);
  simulate(out("two.xml"), 51);
  const auto leaks = [&](const std::string& other) {
    const auto first =
        convert(out("one.xml") + network() + "--force --split 1,0,0 --out " + out("one.h5"));
    const auto second =
        convert(out(other) + network() + "--force --split 0,0,1 --out " + out("two.h5"));
    EXPECT_EQ(first.exit_code + second.exit_code, 0) << first.output << second.output;
    return test::run_program(TRAFFIC_BIN_DIR "/data_prep verify " + out("one.h5") + " " +
                             out("two.h5"));
  };
  const auto days = leaks("two.xml");
  EXPECT_EQ(days.exit_code, 0) << days.output;
  const auto same = leaks("one.xml");
  EXPECT_EQ(same.exit_code, 3);
  EXPECT_THAT(same.output, HasSubstr("leak between splits"));
}

TEST_F(ConvertSumo, DegreesAreRefusedWithoutANetworkAndUnusedWithOne) {
  // The network of the merge has no projection, so the test computes degrees from metres.
  simulate(out("fcd.csv"));
  std::ifstream file(out("fcd.csv"));
  std::string degrees;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> fields;
    std::istringstream parts(line);
    for (std::string part; std::getline(parts, part, ';');) fields.push_back(part);
    if (!degrees.empty() && fields.size() > 3 && !fields[2].empty()) {
      fields[2] = fmt::format("{:.6f}", 13.4 + std::stod(fields[2]) / 67'000);
      fields[3] = fmt::format("{:.6f}", 52.5 + std::stod(fields[3]) / 111'000);
    }
    degrees += fmt::format("{}\n", fmt::join(fields, ";"));
  }
  const std::string input = write("degrees.csv", degrees);
  const auto done = convert(input + " --out " + out("bad.h5"));
  EXPECT_EQ(done.exit_code, 3) << done.output;
  EXPECT_THAT(done.output, HasSubstr("the coordinates may be degrees"));
  EXPECT_EQ(hash_of(input, "", network()), hash_of(out("fcd.csv"), "", network()));
}

TEST_F(ConvertSumo, LanesThatTheNetworkDoesNotHaveAreNamed) {
  const auto done = convert(kFixtures + "tiny.fcd.xml" + network() + "--out " + out());
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_THAT(
      done.output,
      HasSubstr("tiny.fcd.xml:13: vehicle 'b' is on lane 'up_2', which is not in the --network; "
                "correct the file"));
}

}  // namespace
}  // namespace traffic
