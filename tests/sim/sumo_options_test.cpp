#include "sim/sumo_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <pugixml.hpp>

#include "sumo_files.h"
#include "traffic/core/error.h"

namespace traffic::sim {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using testing::ScenarioFolder;

/// A scenario in a folder with a space, with notations that SUMO understands but few people use.
class SumoOptionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.use_merge_network();
    here_ = folder_.path() / "my city";
    fs::create_directories(here_ / "of monday");
    fs::copy_file(folder_.path() / "net.net.xml", here_ / "the net.net.xml");
    const char* const routes =
        "<routes><flow id='f' begin='0' end='100' period='5' from='up' to='down'/></routes>";
    folder_.write("my city/of monday/car flows.rou.xml", routes);
    folder_.write("my city/empty.rou.xml", "<routes/>");
    folder_.write("my city/a.add.xml", "<additional/>");
    folder_.write("my city/b.add.xml", "<additional/>");
    setenv("TRAFFIC_TEST_NET", "the net", 1);
    folder_.write("my city/x.sumocfg",
                  "<anything><input><n v='${TRAFFIC_TEST_NET}.net.xml'/>"
                  "<routes value='of monday/car flows.rou.xml,empty.rou.xml'/>"
                  "<additional value='a.add.xml,b.add.xml'/></input>"
                  "<b value='0:00:10'/><time><end value='00:05:00'/></time>"
                  "<scale value='0.5'/><output><tripinfo-output value='out/trips.xml'/>"
                  "<fcd-output value='fcd.xml'/><fcd-output.geo value='true'/></output>"
                  "<verbose value='x'/><remote-port value='8813'/><log value='log.txt'/>"
                  "</anything>");
  }
  [[nodiscard]] fs::path scenario() const { return here_ / "x.sumocfg"; }

  ScenarioFolder folder_;
  fs::path here_;
};

TEST_F(SumoOptionsTest, FilesAreThoseThatSumoReads) {
  const SumoOptions options(scenario(), {});
  EXPECT_THAT(options.files("net-file"), ElementsAre(here_ / "the net.net.xml"));
  EXPECT_THAT(options.files("route-files"),
              ElementsAre(here_ / "of monday/car flows.rou.xml", here_ / "empty.rou.xml"));
  EXPECT_THAT(options.files("additional-files"),
              ElementsAre(here_ / "a.add.xml", here_ / "b.add.xml"));
  for (const char* name : {"net-file", "route-files", "additional-files"}) {
    for (const fs::path& file : options.files(name)) EXPECT_TRUE(fs::exists(file)) << file;
  }
}

TEST_F(SumoOptionsTest, FileNamesAreDecodedAndTrimmed) {
  folder_.write("my city/y.sumocfg",
                "<anything><additional value='a%2Eadd.xml, b.add.xml'/></anything>");
  EXPECT_THAT(SumoOptions(here_ / "y.sumocfg", {}).files("additional-files"),
              ElementsAre(here_ / "a.add.xml", here_ / "b.add.xml"));
}

TEST_F(SumoOptionsTest, ValuesAreThoseOfSumosOwnSavedConfiguration) {
  const std::string saved = folder_.path("my city/saved.sumocfg");
  const std::string command = "'" + fs::path(TRAFFIC_NETCONVERT).parent_path().string() +
                              "/sumo' -c '" + scenario().string() + "' --save-configuration '" +
                              saved + "' --step-length=0.5 >/dev/null 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0);
  pugi::xml_document document;
  ASSERT_TRUE(document.load_file(saved.c_str()));
  std::map<std::string, std::string> expected;
  for (const auto& option : document.select_nodes("//*[@value]")) {
    expected[option.node().name()] = option.node().attribute("value").as_string();
  }
  ASSERT_THAT(expected, AllOf(Contains(Pair("scale", "0.5")), Contains(Key("tripinfo-output"))));
  // SUMO encodes file names in the saved file, so both are compared as they are read.
  const SumoOptions of_user(scenario(), {"--step-length=0.5"});
  const SumoOptions of_sumo(saved, {});
  for (const auto& [name, value] : expected) {
    SCOPED_TRACE(name);
    EXPECT_EQ(of_user.find(name), of_sumo.find(name));
    EXPECT_EQ(of_user.files(name), of_sumo.files(name));
  }
  EXPECT_EQ(of_user.seconds("begin"), 10.0);
  EXPECT_EQ(of_user.seconds("end"), 300.0);
  EXPECT_EQ(of_user.number("scale"), 0.5);
  EXPECT_EQ(of_user.seconds("step-length"), 0.5);
}

TEST_F(SumoOptionsTest, OptionsThatNobodySetsHaveSumosDefaults) {
  const SumoOptions options(scenario(), {});
  EXPECT_EQ(options.seconds("time-to-teleport"), 300.0);
  EXPECT_EQ(options.seconds("step-length"), 1.0);
  EXPECT_FALSE(options.is_on("random"));
  EXPECT_FALSE(options.find("load-state").has_value());
}

TEST_F(SumoOptionsTest, ArgumentsReplaceTheFileOrAddToIt) {
  folder_.write("c.add.xml", "<additional/>");
  const std::string more = folder_.path("c.add.xml");
  const SumoOptions options(scenario(), {"-e", "100", "--scale=2", "+a", more, "-v"});
  EXPECT_EQ(options.seconds("end"), 100.0);
  EXPECT_EQ(options.number("scale"), 2.0);
  EXPECT_THAT(options.files("additional-files"), Contains(fs::path(more)));
  EXPECT_THAT(options.files("additional-files"), Contains(here_ / "a.add.xml"));
  EXPECT_TRUE(options.is_argument("scale"));
  EXPECT_FALSE(options.is_argument("begin"));
}

TEST_F(SumoOptionsTest, TheSimulationHasNeitherOutputsNorPortOfTheFile) {
  const auto kept = SumoOptions(scenario(), {}).of_simulation();
  for (const char* name : {"tripinfo-output", "fcd-output", "fcd-output.geo", "log", "verbose",
                           "remote-port", "configuration-file"}) {
    EXPECT_THAT(kept, Not(Contains(Key(name))));
  }
  EXPECT_THAT(kept, AllOf(Contains(Pair("begin", "0:00:10")), Contains(Pair("scale", "0.5"))));
  EXPECT_THAT(SumoOptions(scenario(), {}).outputs_of_file(),
              ElementsAre("fcd-output", "log", "tripinfo-output"));
  const auto asked = SumoOptions(scenario(), {"--fcd-output", "mine.xml"}).of_simulation();
  EXPECT_THAT(asked, Contains(Pair("fcd-output", "mine.xml")));
}

TEST_F(SumoOptionsTest, EveryOutputOptionOfSumoIsLeftOut) {
  // Every option that `sumo --save-template` lists as an output gets a file.
  const std::string file = folder_.path("template.sumocfg");
  const std::string command = "'" + fs::path(TRAFFIC_NETCONVERT).parent_path().string() +
                              "/sumo' --save-template '" + file + "' >/dev/null 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0);
  pugi::xml_document document;
  ASSERT_TRUE(document.load_file(file.c_str()));
  std::string options;
  int outputs = 0;
  for (const auto& found : document.select_nodes("//*[@type='FILE']")) {
    const std::string name = found.node().name();
    if (!name.ends_with("output") && !name.ends_with("log")) continue;
    options += "<" + name + " value='x.xml'/>";
    ++outputs;
  }
  ASSERT_GT(outputs, 30);
  folder_.write("all.sumocfg", "<configuration>" + options + "</configuration>");
  const SumoOptions all(folder_.path("all.sumocfg"), {});
  EXPECT_THAT(all.of_simulation(), ::testing::IsEmpty());
  EXPECT_EQ(std::ssize(all.outputs_of_file()), outputs);
}

TEST_F(SumoOptionsTest, AFileThatSumoRefusesComesWithSumosMessage) {
  folder_.write("bad.sumocfg", "<configuration><no-such-option value='1'/></configuration>");
  try {
    const SumoOptions options(folder_.path("bad.sumocfg"), {});
    FAIL() << "expected a DataError: SUMO does not know the option";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("bad.sumocfg"), HasSubstr("no-such-option")));
  }
}

TEST(ParseTime, ReadsTimesAsSumoDoes) {
  EXPECT_EQ(parse_time("90"), 90.0);
  EXPECT_EQ(parse_time("0.25"), 0.25);
  EXPECT_EQ(parse_time("01:02:03"), 3723.0);
  EXPECT_EQ(parse_time("1:00:00:00"), 86400.0);
  EXPECT_EQ(parse_time("-1"), -1.0);
  EXPECT_EQ(parse_time("triggered"), std::nullopt);
  EXPECT_EQ(parse_time(""), std::nullopt);
}

}  // namespace
}  // namespace traffic::sim
