/// Runs the subcommands of data_prep that make data sets from other data sets (merge, split,
/// dedupe, quantize, normalize), as users do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "data/synthetic.h"
#include "support/run_program.h"
#include "traffic/data/reader.h"
#include "traffic/data/statistics.h"

namespace traffic {
namespace {

namespace fs = std::filesystem;
using data::Split;
using data::test::TempDir;
using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

test::Outcome prep(const std::string& arguments) {
  return test::run_program(TRAFFIC_BIN_DIR "/data_prep " + arguments, 60);
}

/// Runs data_prep and returns its stdout without stderr.
json prep_json(const std::string& arguments) {
  const auto outcome = test::run_program(
      "sh -c '" TRAFFIC_BIN_DIR "/data_prep " + arguments + " --json 2>/dev/null'", 60);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  return json::parse(outcome.output);
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

/// A folder with two files of two episodes each.
class Transform : public testing::Test {
 protected:
  void SetUp() override {
    write("a.h5", {{{.seed = 1}}, {{.seed = 2}, Split::kValidation}});
    write("b.h5", {{{.seed = 3}}, {{.seed = 4}, Split::kTest}});
  }
  void write(const std::string& name, const std::vector<data::test::EpisodeSpec>& episodes) const {
    data::test::write_file(dir_ / name, episodes);
  }
  [[nodiscard]] std::string at(const std::string& name) const { return (dir_ / name).string(); }
  [[nodiscard]] std::string both() const { return at("a.h5") + " " + at("b.h5"); }

  TempDir dir_;
};

/// Checks that the frames of `a` are those of `b` from first_of_b on.
void expect_same_traffic(const data::DatasetReader& a, const data::DatasetReader& b,
                         std::int64_t first_of_b) {
  for (std::int64_t f = 0; f < a.num_frames(); ++f) {
    const auto x = a.read_graph_frame(f);
    const auto y = b.read_graph_frame(first_of_b + f);
    ASSERT_EQ(x.time_s, y.time_s) << f;
    ASSERT_EQ(x.vehicle_id, y.vehicle_id) << f;
    ASSERT_EQ(x.xy_m, y.xy_m) << f;
    ASSERT_EQ(x.node_features, y.node_features) << f;
    ASSERT_EQ(x.edge_ptr, y.edge_ptr) << f;
    ASSERT_EQ(x.edge_src, y.edge_src) << f;
    ASSERT_EQ(x.edge_features, y.edge_features) << f;
    ASSERT_EQ(x.global_features, y.global_features) << f;
  }
}

TEST_F(Transform, MergedFilesHoldTheSameTraffic) {
  ASSERT_EQ(prep("merge " + both() + " --out " + at("all.h5")).exit_code, 0);
  const data::DatasetReader a(at("a.h5"));
  const data::DatasetReader b(at("b.h5"));
  const data::DatasetReader all(at("all.h5"));
  ASSERT_EQ(all.episodes().size(), 4U);
  EXPECT_EQ(all.episodes()[3].seed, 4U);
  EXPECT_EQ(all.episodes()[3].split, Split::kTest);
  expect_same_traffic(a, all, 0);
  expect_same_traffic(b, all, a.num_frames());
  EXPECT_EQ(prep("verify " + at("all.h5")).exit_code, 0);
  EXPECT_THAT(all.info().command_line, HasSubstr("merge"));
  EXPECT_THAT(all.info().command_line, HasSubstr(" <- a test"));
}

TEST_F(Transform, MergingFilesOfTwoScenariosNamesBoth) {
  auto info = data::test::test_info();
  info.scenario = "elsewhere";
  data::DatasetWriter writer(dir_ / "c.h5", info, {});
  writer.begin_episode({.seed = 9});
  for (const auto& frame : data::test::make_traffic({.seed = 9})) writer.append(frame);
  writer.end_episode();
  writer.finish();
  const auto outcome = prep("merge " + both() + " " + at("c.h5") + " --out " + at("all.h5"));
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.output, HasSubstr("its scenario is elsewhere, but that of"));
  EXPECT_FALSE(fs::exists(at("all.h5")));
}

TEST_F(Transform, ExistingFilesAndInputsAreNotReplaced) {
  const std::string merge = "merge " + both() + " --out " + at("a.h5");
  const auto before = data::test::read_bytes(at("a.h5"));
  EXPECT_EQ(prep(merge).exit_code, 2);
  EXPECT_EQ(prep(merge + " --force").exit_code, 2) << "the output file is one of the inputs";
  EXPECT_EQ(prep("quantize " + both() + " --out " + dir_.path().string()).exit_code, 2);
  EXPECT_EQ(data::test::read_bytes(at("a.h5")), before);
}

TEST_F(Transform, SplitKeepsEpisodesOfASeedTogether) {
  // The file has twelve episodes: each seed in two splits with different traffic.
  std::vector<data::test::EpisodeSpec> episodes;
  for (std::uint64_t seed = 11; seed <= 16; ++seed) {
    episodes.push_back({{.seed = seed, .vehicles = 9}});
    episodes.push_back({{.seed = seed, .vehicles = 12}, Split::kTest});
  }
  write("many.h5", episodes);
  EXPECT_EQ(prep("verify " + at("many.h5")).exit_code, 3) << "each seed is in two splits (a leak)";
  const auto out = at("out");
  const auto split = "split " + at("many.h5") + " --split 0.5,0.25,0.25 --seed 5 --out " + out;
  const auto answer = prep_json(split);
  EXPECT_EQ(prep("verify " + out + "/many.h5").exit_code, 0);
  const data::DatasetReader file(out + "/many.h5");
  std::set<Split> found;
  for (const auto& episode : file.episodes()) found.insert(episode.split);
  EXPECT_EQ(found.size(), 3U);
  EXPECT_NEAR(answer["splits"][0]["share of frames"].get<double>(), 0.5, 0.2);
  const auto hash = file.info().content_hash;
  prep_json(split + " --force --jobs 1");
  EXPECT_EQ(data::DatasetReader(out + "/many.h5").info().content_hash, hash)
      << "the same seed must give the same split";
}

TEST_F(Transform, DedupeLeavesOutTheEpisodeThatCameLater) {
  fs::copy_file(at("a.h5"), at("again.h5"));
  const auto answer = prep_json("dedupe " + both() + " " + at("again.h5") + " --out " + at("out"));
  ASSERT_EQ(answer["removed"].size(), 2U);
  EXPECT_EQ(answer["removed"][0]["file"], at("again.h5"));
  EXPECT_EQ(answer["removed"][0]["same_as_file"], at("a.h5"));
  EXPECT_EQ(answer["removed"][0]["share_of_frames"], 1.0);
  EXPECT_THAT(names_in(at("out")), testing::UnorderedElementsAre("a.h5", "b.h5"));
  EXPECT_EQ(prep("verify " + at("out") + "/*.h5").exit_code, 0);
}

TEST_F(Transform, QuantizedValuesStayWithinTheBoundThatIsPrinted) {
  const auto answer = prep_json("quantize " + both() + " --out " + at("out"));
  const data::DatasetReader before(at("a.h5"));
  const data::DatasetReader after(at("out") + "/a.h5");
  EXPECT_TRUE(after.info().float16);
  EXPECT_LT(after.file_bytes(), before.file_bytes());
  const auto& table = answer["node_features"];
  const std::size_t width = before.info().node_features.size();
  ASSERT_EQ(table.size(), width);
  double worst = 0;
  for (std::int64_t f = 0; f < before.num_frames(); ++f) {
    const auto exact = before.read_graph_frame(f).node_features;
    const auto rounded = after.read_graph_frame(f).node_features;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const double error = std::abs(static_cast<double>(exact[i]) - rounded[i]);
      const auto& row = table[i % width];
      ASSERT_LE(error, row["error"].get<double>()) << row;
      ASSERT_LE(row["error"].get<double>(), row["bound"].get<double>()) << row;
      worst = std::max(worst, error);
    }
  }
  EXPECT_GT(worst, 0) << "quantize must have rounded some values";
}

TEST_F(Transform, NormalizeStoresStatisticsOfTheTrainSplit) {
  const auto answer = prep_json("normalize " + both() +
                                " --feature position_m=minmax --feature speed_mps=zscore --feature "
                                "acceleration_mps2=clamp:-1:1 --feature time=sincos:60 --out " +
                                at("out"));
  const data::DatasetReader before(at("a.h5"));
  const data::DatasetReader after(at("out") + "/a.h5");
  const auto& table = after.info().node_features;
  const auto column = [&](const char* name) {
    return static_cast<std::size_t>(data::feature_index(table, name));
  };
  // The first episode of each file belongs to the train split.
  double least = 1e30;
  double most = -1e30;
  data::Moments speeds;
  for (const char* name : {"a.h5", "b.h5"}) {
    const data::DatasetReader file(at(name));
    for (std::int64_t f = 0; f < file.episodes()[0].num_frames; ++f) {
      const auto frame = file.read_graph_frame(f);
      for (std::size_t i = 0; i < frame.vehicle_id.size(); ++i) {
        const float* row = frame.node_features.data() + i * table.size();
        least = std::min<double>(least, row[column("position_m")]);
        most = std::max<double>(most, row[column("position_m")]);
        speeds.add(row[column("speed_mps")]);
      }
    }
  }
  EXPECT_FLOAT_EQ(table[column("position_m")].offset, static_cast<float>(least));
  EXPECT_FLOAT_EQ(table[column("position_m")].scale, static_cast<float>(most - least));
  EXPECT_FLOAT_EQ(table[column("speed_mps")].offset, static_cast<float>(speeds.mean()));
  EXPECT_FLOAT_EQ(table[column("speed_mps")].scale,
                  static_cast<float>(speeds.standard_deviation()));
  EXPECT_EQ(table[column("acceleration_mps2")].scale, 1.0F);
  EXPECT_GT(answer["values_cut"].get<std::int64_t>(), 0);
  const auto frame = after.read_graph_frame(30);
  const auto old = before.read_graph_frame(30);
  for (std::size_t i = 0; i < frame.vehicle_id.size(); ++i) {
    const float* row = frame.node_features.data() + i * table.size();
    const float* was = old.node_features.data() + i * table.size();
    EXPECT_EQ(row[column("position_m")], was[column("position_m")])
        << "minmax must not change stored values, only offset and scale";
    EXPECT_EQ(row[column("acceleration_mps2")],
              std::clamp(was[column("acceleration_mps2")], -1.0F, 1.0F));
    EXPECT_NEAR(row[column("time_sin")], std::sin(2 * M_PI * frame.time_s / 60), 1e-6);
    EXPECT_NEAR(row[column("time_cos")], std::cos(2 * M_PI * frame.time_s / 60), 1e-6);
  }
  const auto kept = json::parse(data::test::read_bytes(at("out") + "/statistics.json"));
  EXPECT_EQ(kept["acceleration_mps2"]["low"], -1.0);
  EXPECT_EQ(kept, answer["constants"]);
}

TEST_F(Transform, NormalizeNamesInvalidRules) {
  const std::string command = "normalize " + both() + " --out " + at("out") + " --feature ";
  for (const auto& [rule, word] : {std::pair{"speed_mps", "expected NAME=minmax"},
                                   {"speed_mps=log", "speed_mps=log"},
                                   {"speed_mps=clamp:5:-5", "clamp:LOW:HIGH"},
                                   {"time=sincos:0", "sincos"},
                                   {"colour=minmax", "no such feature"}}) {
    const auto outcome = prep(command + rule);
    EXPECT_EQ(outcome.exit_code, 2) << rule;
    EXPECT_THAT(outcome.output, HasSubstr(word));
  }
  EXPECT_THAT(names_in(at("out")), IsEmpty());
}

TEST_F(Transform, StatisticsOfFilesAddUpAndMakeAPage) {
  const auto apart = prep_json("stats " + both() + " --html " + at("page.html"));
  ASSERT_EQ(prep("merge " + both() + " --out " + at("all.h5")).exit_code, 0);
  const auto whole = prep_json("stats " + at("all.h5") + " --jobs 1");
  EXPECT_EQ(apart["histograms"], whole["histograms"]);
  EXPECT_EQ(apart["conflict"], whole["conflict"]);
  for (std::size_t i = 0; i < whole["node_features"].size(); ++i) {
    EXPECT_NEAR(apart["node_features"][i]["std"], whole["node_features"][i]["std"], 1e-6);
  }
  std::int64_t counted = 0;
  for (const auto& count : whole["histograms"]["speed_mps"]["counts"]) {
    counted += count.get<std::int64_t>();
  }
  EXPECT_EQ(counted, data::DatasetReader(at("all.h5")).num_nodes());
  const auto page = data::test::read_bytes(at("page.html"));
  EXPECT_THAT(page, HasSubstr("speed_mps [m/s]"));
  EXPECT_THAT(page, HasSubstr("<svg"));
  EXPECT_THAT(prep("stats " + both()).output, HasSubstr("█"));
}

TEST_F(Transform, VerifyNamesTheChunkOfEveryDamagedFile) {
  for (const char* name : {"a.h5", "b.h5"}) {
    auto bytes = data::test::read_bytes(at(name));
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    data::test::write_bytes(at(name), bytes);
  }
  const auto outcome = prep("verify " + both());
  EXPECT_EQ(outcome.exit_code, 3);
  for (const char* name : {"a.h5: column ", "b.h5: column "}) {
    EXPECT_THAT(outcome.output, HasSubstr(name));
  }
  EXPECT_THAT(outcome.output, HasSubstr("(chunk "));
}

TEST_F(Transform, KillingItLeavesNoHalfFileUnderTheFinalName) {
  write("large.h5", {{{.seed = 8, .frames = 800, .vehicles = 300, .edge_share = 0.02}}});
  const std::string command = "split " + at("large.h5") + " --out " + at("out") + " --force";
  const test::BackgroundProgram running(TRAFFIC_BIN_DIR "/data_prep " + command);
  const auto writes = [&] {
    if (!fs::exists(at("out"))) return false;
    const auto names = names_in(at("out"));
    return !names.empty() && names.front().starts_with(".tmp-") &&
           fs::file_size(fs::path(at("out")) / names.front()) > 0;
  };
  for (int i = 0; i < 2000 && !writes(); ++i) usleep(5'000);
  ASSERT_TRUE(writes());
  running.send(SIGKILL);
  usleep(200'000);
  EXPECT_FALSE(fs::exists(at("out") + "/large.h5"));
  // Another run removes the files of the killed one.
  ASSERT_EQ(prep(command).exit_code, 0);
  EXPECT_THAT(names_in(at("out")), testing::ElementsAre("large.h5"));
}

TEST_F(Transform, AskedToStopItCleansUpAndEndsWith75) {
  write("large.h5", {{{.seed = 8, .frames = 800, .vehicles = 300, .edge_share = 0.02}}});
  test::BackgroundProgram running(TRAFFIC_BIN_DIR "/data_prep split " + at("large.h5") + " --out " +
                                  at("out"));
  const auto begun = [&] { return fs::exists(at("out")) && !names_in(at("out")).empty(); };
  for (int i = 0; i < 2000 && !begun(); ++i) usleep(5'000);
  ASSERT_TRUE(begun());
  running.send(SIGTERM);
  EXPECT_EQ(running.wait(), 75);
  EXPECT_THAT(names_in(at("out")), IsEmpty());
}

}  // namespace
}  // namespace traffic
