#include "traffic/sim/network_study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "sumo_files.h"
#include "traffic/core/error.h"

namespace traffic::sim {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ScenarioFolder;

/// A flow with the attributes that every flow needs.
std::string flow(const std::string& type, const std::string& attributes,
                 const std::string& route = "from='up' to='down'") {
  static int number = 0;
  return "<flow id='f" + std::to_string(number++) + "' type='" + type + "' " + route + " " +
         attributes + "/>";
}

/// A folder that also defines the vehicle types that the demand names but does not define.
class DemandFolder : public ScenarioFolder {
 public:
  [[nodiscard]] std::string config(const std::string& routes, int end_s,
                                   const std::string& options = "") const {
    std::string types;
    for (const std::string type : {"cv", "CV", "HV", "car", "van", "cav_1", "connected"}) {
      const bool is_named = routes.find(" type='" + type + "'") != std::string::npos;
      const bool is_defined = routes.find("<vType id='" + type + "'") != std::string::npos ||
                              routes.find("Distribution id='" + type + "'") != std::string::npos;
      if (is_named && !is_defined) types += "<vType id='" + type + "'/>";
    }
    return ScenarioFolder::config(types + routes, end_s, options);
  }
};

config::Config config_of(const std::string& scenario) {
  config::Config config;
  config.env.scenario = scenario;
  return config;
}

/// Severity and key of each finding, such as "error env.cv_types"; "said" stands for information.
std::vector<std::string> kinds(const std::vector<StudyFinding>& findings) {
  std::vector<std::string> all;
  for (const StudyFinding& finding : findings) {
    const char* severity = finding.severity == Severity::kSaid      ? "said "
                           : finding.severity == Severity::kWarning ? "warning "
                                                                    : "error ";
    all.push_back(severity + finding.key);
  }
  return all;
}

const StudyUse kMeter{.controllers = {"none", "meter"}};
const StudyUse kLearns{.controllers = {}, .learns = true};

class NetworkStudyTest : public ::testing::Test {
 protected:
  /// Two streams that join: up and ramp, then mrg with a lane that ends, then down.
  void SetUp() override { folder_.use_merge_network(); }
  NetworkReport look(config::Config& config, const StudyUse& use = kMeter) const {
    return look_at_networks(config, use);
  }
  NetworkReport look(const std::string& routes, int end_s = 300) const {
    config::Config config = config_of(folder_.config(routes, end_s));
    return look(config);
  }
  /// @param options of the .sumocfg, as XML
  NetworkReport look_at(const std::string& routes, const std::string& options) const {
    config::Config config = config_of(folder_.config(routes, 300, options));
    return look(config);
  }
  DemandFolder folder_;
};

TEST_F(NetworkStudyTest, TheShippedScenariosAreFine) {
  for (const char* name : {"merge", "merge_quick", "corridor"}) {
    config::Config config = config_of(name);
    const NetworkReport report = look(config, kLearns);
    EXPECT_THAT(kinds(report.findings), IsEmpty()) << name;
    EXPECT_THAT(report.summaries, ElementsAre(HasSubstr(", 25 % of them connected (cv); demand "
                                                        "varies with the seed; steps of 1 s, no "
                                                        "teleports")));
  }
}

TEST_F(NetworkStudyTest, FindsTheMergeWithItsApproachesAndTheirDemand) {
  const NetworkStudy study = study_network({}, "merge");
  ASSERT_EQ(study.conflicts.size(), 1U);
  EXPECT_EQ(study.conflicts[0].exit_lanes, 3);
  const auto& approaches = study.conflicts[0].approaches;
  ASSERT_EQ(approaches.size(), 2U);
  for (const ApproachStudy& approach : approaches) {
    EXPECT_EQ(approach.minor, approach.edge == "ramp");
    EXPECT_DOUBLE_EQ(approach.speed_limit_mps, approach.edge == "ramp" ? 16.7 : 22.2);
    EXPECT_EQ(approach.major, approach.edge == "up");
    EXPECT_FALSE(approach.may_yield);
    EXPECT_NEAR(approach.vehicles, approach.edge == "up" ? 775 : 200, 0.1);
  }
  EXPECT_NEAR(study.types.at("cv").vehicles, 975 / 4.0, 0.1);
  EXPECT_NEAR(study.routes.at("on_ramp"), 200, 0.1);
  EXPECT_EQ(study.last_depart_s, 900);
}

TEST_F(NetworkStudyTest, NoVehicleIsConnected) {
  const NetworkReport report = look(flow("car", "vehsPerHour='900' begin='0' end='300'") +
                                    flow("van", "vehsPerHour='300' begin='0' end='300'"));
  ASSERT_THAT(kinds(report.findings), ElementsAre("error env.cv_types", "warning env.sumo_args"));
  EXPECT_THAT(report.findings[0].text(), HasSubstr("no vehicle is of type 'cv'; types are car 75 "
                                                   "%, van 25 %: set env.cv_types to the types"));
  EXPECT_THROW(require_usable(report.findings), ConfigError);
}

TEST_F(NetworkStudyTest, TheOnlyTypeThatLooksConnectedIsSetAndReported) {
  config::Config config =
      config_of(folder_.config(flow("HV", "probability='.3' begin='0' end='300'") +
                                   flow("CV", "probability='.1' begin='0' end='300'"),
                               300));
  const NetworkReport report = look(config);
  ASSERT_THAT(kinds(report.findings), ElementsAre("said env.cv_types"));
  EXPECT_THAT(
      report.findings[0].text(),
      HasSubstr(
          "no vehicle is of type 'cv'; types are HV 75 %, CV 25 %: the program sets env.cv_types "
          "= [\"CV\"]"));
  EXPECT_THAT(config.env.cv_types, ElementsAre("CV"));
  EXPECT_THAT(report.summaries, ElementsAre(HasSubstr("25 % of them connected (CV)")));
}

TEST_F(NetworkStudyTest, TypesThatAreNamedOrAmbiguousAreNotReplaced) {
  const std::string routes = flow("cav_1", "probability='.2' begin='0' end='300'") +
                             flow("connected", "probability='.2' begin='0' end='300'");
  const NetworkReport ambiguous = look(routes);
  ASSERT_THAT(kinds(ambiguous.findings), ElementsAre("error env.cv_types"));
  EXPECT_THAT(ambiguous.findings[0].remedy, "set env.cv_types = [\"cav_1\", \"connected\"]");
  config::Config config =
      config_of(folder_.config(flow("CV", "probability='.2' begin='0' end='300'"), 300));
  config.env.cv_types = {"av"};
  EXPECT_THAT(kinds(look(config).findings), ElementsAre("error env.cv_types"));
  EXPECT_THAT(config.env.cv_types, ElementsAre("av"));
}

TEST_F(NetworkStudyTest, NoneAloneNeedsNoVehicleThatIsConnected) {
  config::Config config =
      config_of(folder_.config(flow("car", "probability='.2' begin='0' end='300'"), 300));
  EXPECT_THAT(kinds(look(config, {.controllers = {"none"}}).findings), IsEmpty());
}

TEST_F(NetworkStudyTest, AnEpisodeThatEndsBeforeTheFirstDeparture) {
  config::Config config = config_of(folder_.config(
      "<vType id='cv'/>" + flow("cv", "probability='.2' begin='100' end='300'"), 300));
  config.env.max_time_s = 6;
  EXPECT_THAT(kinds(look(config, {.controllers = {"none"}}).findings), IsEmpty())
      << "a run of 'none' alone may end before the first departure, as in the health check of a "
         "training";
  EXPECT_THAT(kinds(look(config).findings), ElementsAre("error env.scenario"));
}

TEST_F(NetworkStudyTest, ConnectedVehiclesThatPassNoConflict) {
  const NetworkReport report =
      look("<route id='end' edges='down'/>" +
           flow("cv", "probability='.1' begin='0' end='300'", "route='end'") +
           flow("car", "probability='.2' begin='0' end='300'"));
  ASSERT_THAT(kinds(report.findings), ElementsAre("error env.cv_types"));
  EXPECT_THAT(report.findings[0].found, HasSubstr("no connected vehicle has a conflict"));
}

TEST_F(NetworkStudyTest, ANetworkWithoutConflicts) {
  folder_.build_network("<node id='a' x='0' y='0'/><node id='b' x='500' y='0'/>",
                        "<edge id='up' from='a' to='b' numLanes='1'/>");
  const NetworkReport report =
      look(flow("cv", "probability='.2' begin='0' end='300'", "from='up' to='up'"));
  ASSERT_THAT(kinds(report.findings), ElementsAre("error env.scenario"));
  EXPECT_THAT(report.findings[0].text(), HasSubstr("the network has no conflict"));
}

TEST_F(NetworkStudyTest, AnEndAfterTheLastDepartureIsSetAndReported) {
  config::Config config =
      config_of(folder_.config(flow("cv", "probability='.2' begin='0' end='700'"), -1));
  const NetworkReport report = look(config);
  ASSERT_THAT(kinds(report.findings), ElementsAre("said env.max_time_s"));
  EXPECT_THAT(
      report.findings[0].text(),
      HasSubstr("the scenario has no end; its last vehicle departs at 700 s: the program sets "
                "env.max_time_s = 720"));
  EXPECT_EQ(config.env.max_time_s, 720);
}

TEST_F(NetworkStudyTest, AFlowWithoutEndInAScenarioWithoutEnd) {
  const NetworkReport report = look(flow("cv", "probability='.2'"), -1);
  ASSERT_THAT(kinds(report.findings), ElementsAre("error env.max_time_s"));
  EXPECT_THAT(report.findings[0].text(),
              AllOf(HasSubstr("has no end, and neither has one of its flows"),
                    HasSubstr("or set env.max_time_s = 3600")));
}

TEST_F(NetworkStudyTest, AnEndThatIsThousandsOfDaysAwayIsNoEnd) {
  config::Config endless =
      config_of(folder_.config(flow("cv", "probability='.2' begin='0' end='10000000000'"), -1));
  EXPECT_THAT(kinds(look(endless).findings), ElementsAre("error env.max_time_s"));
  EXPECT_EQ(endless.env.max_time_s, 0);
  const NetworkReport report =
      look(flow("cv", "probability='.2' begin='0' end='1000000'"), 1'000'000);
  ASSERT_THAT(kinds(report.findings), ElementsAre("warning env.max_time_s"));
  EXPECT_THAT(report.findings[0].text(),
              HasSubstr("an episode lasts 12 days: set env.max_time_s = 3600"));
}

TEST_F(NetworkStudyTest, AnEndLeavesTimeForVehiclesThatAllDepartAtOnce) {
  std::string vehicles;
  for (int i = 0; i < 20; ++i) {
    vehicles += "<trip id='t" + std::to_string(i) + "' type='cv' depart='0' from='up' to='down'/>";
  }
  config::Config config = config_of(folder_.config(vehicles, -1));
  EXPECT_THAT(kinds(look(config).findings),
              ElementsAre("said env.max_time_s", "warning env.sumo_args"));
  EXPECT_EQ(config.env.max_time_s, 600);
  const NetworkReport report = look(vehicles, 3600);
  ASSERT_THAT(kinds(report.findings), ElementsAre("warning env.sumo_args",
                                                  "warning "
                                                  "env.max_time_s"));
  EXPECT_EQ(report.findings[1].remedy, "set env.max_time_s = 600");
}

TEST_F(NetworkStudyTest, VehiclesThatOnlyCalibratorsInsertAreSeenByARun) {
  folder_.write("cal.add.xml",
                "<additional><vTypeDistribution id='mix'><vType id='hv' probability='.7'/><vType "
                "id='cv' probability='.3'/></vTypeDistribution><route id='a' edges='up mrg down'/>"
                "<calibrator id='c' edge='up' pos='0' period='60'><flow begin='0' end='300' "
                "route='a' vehsPerHour='1800' speed='13' type='mix'/></calibrator></additional>");
  const std::string scenario = folder_.config("", 300, "<additional-files value='cal.add.xml'/>");
  const NetworkStudy study = study_network({}, scenario);
  EXPECT_GT(study.types.at("cv").vehicles, 0);
  EXPECT_GT(study.types.at("hv").vehicles, 0);
  EXPECT_THAT(study.uncounted_sources, ElementsAre("calibrator"));
  config::Config config = config_of(scenario);
  const NetworkReport report = look(config);
  EXPECT_THAT(kinds(report.findings), IsEmpty());
  EXPECT_THAT(report.summaries, ElementsAre(HasSubstr("; at least ")));
}

TEST_F(NetworkStudyTest, DemandThatIsNotKnownWithCertaintyIsNotRefused) {
  const std::string no_traffic_in_sight =
      "<vType id='cv'/><route id='a' edges='up mrg down'/><vehicle id='v' type='cv' route='a' "
      "depart='triggered'/>";
  // The study simulates this scenario for at most 10 s of real time. The episode is so long that
  // no machine reaches its end in this time.
  const NetworkReport report = look(no_traffic_in_sight, 100'000'000);
  EXPECT_THAT(kinds(report.findings), ElementsAre("warning env.max_time_s",
                                                  "warning "
                                                  "env.scenario"));
  EXPECT_THAT(report.findings[1].found, HasSubstr("may still depart"));
}

TEST_F(NetworkStudyTest, CountsVehiclesFromTheBeginOn) {
  const std::string scenario = folder_.config(
      flow("cv", "period='5' begin='0' end='100'") + flow("cv", "number='20' begin='0' end='100'") +
          flow("cv", "period='5' number='20'") +
          "<trip id='early' type='cv' depart='10' from='up' to='down'/>"
          "<trip id='at' type='cv' depart='50' from='up' to='down'/>",
      200);
  config::Env env;
  env.sumo_args = {"--begin", "50"};
  EXPECT_NEAR(study_network(env, scenario).vehicles, 10 + 10 + 20 + 1, 1e-9);
}

TEST_F(NetworkStudyTest, CountsTheSharesAndScalesThatTypesHave) {
  const std::string scenario = folder_.config(
      "<vType id='a' probability='3'/><vType id='b' probability='1' scale='2'/>"
      "<vTypeDistribution id='d' vTypes='a b'/>" +
          flow("d", "vehsPerHour='3600' begin='0' end='100'"),
      200);
  const NetworkStudy study = study_network({}, scenario);
  EXPECT_NEAR(study.types.at("a").vehicles, 75, 1e-9);
  EXPECT_NEAR(study.types.at("b").vehicles, 50, 1e-9);
}

TEST_F(NetworkStudyTest, AFileThatIncludesItselfIsNamed) {
  folder_.write("b.xml", "<routes><include href='s.rou.xml'/></routes>");
  for (const char* href : {"s.rou.xml", "./s.rou.xml", "b.xml"}) {
    try {
      study_network({}, folder_.config("<include href='" + std::string(href) + "'/>", 100));
      ADD_FAILURE() << "expected a DataError: the file includes itself";
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("s.rou.xml"), HasSubstr("includes itself")));
    }
  }
  std::string nested = "<trip id='t' type='cv' depart='1' from='up' to='down'/>";
  for (int i = 0; i < 100'000; ++i) nested = "<interval>" + nested;
  for (int i = 0; i < 100'000; ++i) nested += "</interval>";
  EXPECT_THROW(study_network({}, folder_.config(nested, 100)), DataError);
}

TEST_F(NetworkStudyTest, InvalidNumbersOfTheDemandAreNamed) {
  for (const std::string bad : {"period='exp(x)'", "period='exp()'", "vehsPerHour='many'",
                                "probability='.1.'", "number='1e' end='9'"}) {
    SCOPED_TRACE(bad);
    try {
      study_network({}, folder_.config(flow("cv", bad), 100));
      ADD_FAILURE() << "expected a DataError: a number is invalid";
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("s.rou.xml"), HasSubstr("expected a number")));
    }
  }
  EXPECT_THROW(study_network({}, folder_.config("<vTypeDistribution id='d' vTypes='a b' "
                                                "probabilities='1 x'/>",
                                                100)),
               DataError);
}

TEST_F(NetworkStudyTest, SaysWhichOutputsAreNotWritten) {
  folder_.write("det.add.xml",
                "<additional><inductionLoop id='d' lane='up_0' pos='50' period='20' "
                "file='det.xml'/></additional>");
  const NetworkReport report = look_at(flow("cv", "probability='.2' begin='0' end='300'"),
                                       "<additional-files value='det.add.xml'/>"
                                       "<tripinfo-output value='trips.xml'/>");
  ASSERT_THAT(kinds(report.findings), ElementsAre("said env.sumo_args"));
  EXPECT_THAT(report.findings[0].text(),
              HasSubstr("ask for output (tripinfo-output, inductionLoop): this output is not"));
}

TEST_F(NetworkStudyTest, WarnsOfTeleports) {
  const std::string routes = flow("cv", "probability='.2' begin='0' end='300'");
  config::Config config = config_of(folder_.config(routes, 300));
  config.env.sumo_args = {"--time-to-teleport", "120"};
  const NetworkReport report = look(config);
  ASSERT_THAT(kinds(report.findings), ElementsAre("warning env.sumo_args"));
  EXPECT_THAT(report.findings[0].text(),
              AllOf(HasSubstr("stand for 120 s are teleported"),
                    HasSubstr("env.sumo_args = [\"--time-to-teleport\", \"-1\"]")));
  require_usable(report.findings);
}

TEST_F(NetworkStudyTest, WarnsOfVehiclesThatSumoDeletesBeforeTheyEnter) {
  const std::string routes = flow("cv", "probability='.2' begin='0' end='300'");
  config::Config config = config_of(folder_.config(routes, 300));
  config.env.sumo_args = {"--max-depart-delay", "30"};
  const NetworkReport report = look(config);
  ASSERT_THAT(kinds(report.findings), ElementsAre("warning env.sumo_args"));
  EXPECT_THAT(report.findings[0].text(),
              AllOf(HasSubstr("SUMO deletes vehicles that have waited 30 s"),
                    HasSubstr("env.sumo_args = [\"--max-depart-delay\", \"-1\"]")));
}

TEST_F(NetworkStudyTest, WarnsOfDemandThatIsTheSameWithEverySeed) {
  const std::string routes = flow("cv", "period='4' begin='0' end='300'");
  const NetworkReport report = look(routes);
  ASSERT_THAT(kinds(report.findings), ElementsAre("warning env.sumo_args"));
  EXPECT_THAT(report.findings[0].found, HasSubstr("the same with every seed"));
  config::Config config = config_of(folder_.config(routes, 300));
  config.env.sumo_args = {"--random-depart-offset", "60"};
  EXPECT_THAT(kinds(look(config).findings), IsEmpty());
}

TEST_F(NetworkStudyTest, WarnsOfAnEndLongAfterTheDemandAndOfFewConnectedVehicles) {
  const NetworkReport report = look(flow("cv", "probability='.01' begin='0' end='300'") +
                                        flow("car", "probability='.5' begin='0' end='300'"),
                                    3600);
  EXPECT_THAT(kinds(report.findings),
              ElementsAre("warning env.cv_share", "warning env.max_time_s"));
}

TEST_F(NetworkStudyTest, SaysWhichControllersAndCommandsCanDoNothing) {
  config::Config config = config_of("merge");
  const NetworkReport some = look(config, {.controllers = {"none", "meter", "yield"}});
  ASSERT_THAT(kinds(some.findings), ElementsAre("warning --controller"));
  EXPECT_THAT(some.findings[0].text(), HasSubstr("yield can do nothing: there is no main stream"));
  config.env.scenario = "roundabout";  // single lanes
  const NetworkReport narrow = look(config, {.controllers = {"vsl", "vsl(inner=0)", "sort"}});
  ASSERT_THAT(kinds(narrow.findings), ElementsAre("warning --controller", "warning --controller"));
  EXPECT_THAT(narrow.findings[0].text(), HasSubstr("vsl can do nothing: there is no approach"));
  EXPECT_THAT(narrow.findings[1].text(), HasSubstr("sort can do nothing: there is no approach"));
  config.env.scenario = "arterial";  // left turns give way on every approach
  EXPECT_THAT(kinds(look(config, {.controllers = {"vsl(density=20)+greedy"}}).findings),
              ElementsAre("warning --controller"));
  config.env.scenario = "merge";
  config.vehicles.longitudinal = "categorical";
  config.vehicles.lane_change = false;
  config.vehicles.commands = {"none", "arrive_late"};
  EXPECT_THAT(kinds(look(config, kLearns).findings), ElementsAre("error vehicles.commands"));
  config.env.scenario = "corridor";
  EXPECT_THAT(kinds(look(config, kLearns).findings), IsEmpty());
}

TEST_F(NetworkStudyTest, AControlPeriodThatIsNoWholeNumberOfSteps) {
  config::Config config = config_of("merge");
  config.env.sumo_args = {"--step-length=0.7"};
  const NetworkReport report = look(config, kLearns);
  ASSERT_THAT(kinds(report.findings), ElementsAre("error env.control_period_s"));
  EXPECT_EQ(report.findings[0].remedy, "set env.control_period_s = 2.8");
}

TEST_F(NetworkStudyTest, InAMixtureNothingIsSet) {
  const std::string other = folder_.config(flow("CV", "probability='.2' begin='0' end='300'"), 300);
  config::Config config;
  config.env.scenarios = {"merge:2", other};
  const NetworkReport report = look(config, kLearns);
  EXPECT_EQ(report.summaries.size(), 2U);
  ASSERT_THAT(kinds(report.findings), ElementsAre("error env.cv_types"));
  EXPECT_THAT(report.findings[0].text(), HasSubstr(other));
  EXPECT_THAT(config.env.cv_types, ElementsAre("cv"));
}

TEST_F(NetworkStudyTest, CountsEveryWayOfWritingDemand) {
  folder_.write("types.xml",
                "<additional><vTypeDistribution id='mix'><vType id='cv' probability='1'/>"
                "<vType id='car' probability='3'/></vTypeDistribution></additional>");
  folder_.write("more.xml",
                "<routes><vehicle id='v' type='cv' depart='00:01:00'><route edges='up "
                "mrg down'/></vehicle></routes>");
  const std::string scenario = folder_.ScenarioFolder::config(
      "<include href='more.xml'/><routeDistribution id='ways'><route id='main' edges='up mrg down' "
      "probability='.8'/><route id='side' edges='ramp mrg down' probability='.2'/>"
      "</routeDistribution>" +
          flow("mix", "vehsPerHour='3600' begin='100' end='200'", "route='ways'") +
          flow("cv", "number='50' begin='0' end='600'") + flow("cv", "period='exp(0.5)' end='20'") +
          flow("cv", "period='2' number='5'") +
          "<trip id='t' type='cv' depart='10' from='up' to='down'/>"
          "<trip id='late' type='cv' depart='301' from='up' to='down'/>"
          "<interval begin='0' end='30'>" +
          flow("cv", "probability='.1'") + "</interval>",
      300);
  config::Env env;
  env.sumo_args = {"-a", folder_.path("types.xml"), "--scale", "2"};
  const NetworkStudy study = study_network(env, scenario);
  EXPECT_NEAR(study.types.at("car").vehicles, 2 * 75, 1e-9);
  EXPECT_NEAR(study.types.at("cv").vehicles, 2 * (1 + 25 + 25 + 10 + 5 + 1 + 3), 1e-9);
  EXPECT_NEAR(study.routes.at("side"), 2 * 20, 1e-9);
  EXPECT_NEAR(study.random_vehicles, 2 * (10 + 3), 1e-9);
  EXPECT_NEAR(study.written_out, 2 * 101, 1e-9);
  EXPECT_EQ(study.last_depart_s, 300);
}

/// A network with one traffic light at which two streams meet. A test may replace the phases of its
/// program.
class LitNetworkTest : public ::testing::Test {
 protected:
  LitNetworkTest() {
    folder_.build_network(
        "<node id='a' x='0' y='0'/><node id='b' x='200' y='0'/>"
        "<node id='t' x='100' y='0' type='traffic_light'/>"
        "<node id='s' x='100' y='-100'/>",
        "<edge id='at' from='a' to='t'/><edge id='st' from='s' to='t'/>"
        "<edge id='tb' from='t' to='b'/>");
  }
  /// @param phases states of the phases; none: the program that netconvert made
  NetworkReport look(const std::vector<std::string>& phases,
                     const std::vector<std::string>& args = {}) const {
    std::string program;
    for (const std::string& state : phases) {
      program += "<phase duration='10' state='" + state + "'/>";
    }
    if (!program.empty())
      program = "<tlLogic id='t' type='static' programID='p' offset='0'>" + program + "</tlLogic>";
    return look_at(program, args);
  }
  /// @param elements of an additional file
  NetworkReport look_at(const std::string& elements, const std::vector<std::string>& args) const {
    folder_.write("inner.xml", "<additional>" + elements + "</additional>");
    folder_.write("outer.xml", "<additional><include href='inner.xml'/></additional>");
    config::Config config = config_of(folder_.config(
        flow("car", "begin='0' end='300' probability='.1'", "from='at' to='tb'"), 300));
    config.env.agents = {"lights"};
    config.env.sumo_args = {"-a", folder_.path("outer.xml")};
    config.env.sumo_args.insert(config.env.sumo_args.end(), args.begin(), args.end());
    return look_at_networks(config, kLearns);
  }
  DemandFolder folder_;
};

TEST_F(LitNetworkTest, LightsWithTwoGreensCanBeTrained) {
  EXPECT_THAT(kinds(look({}).findings), IsEmpty());
  EXPECT_THAT(kinds(look({"Gr", "yr", "rG", "ry"}).findings), IsEmpty());
}

TEST_F(LitNetworkTest, AnElementThatOnlyChangesAnOffsetLeavesTheProgram) {
  EXPECT_THAT(kinds(look_at("<tlLogic id='t' programID='0' offset='7'/>", {}).findings), IsEmpty());
}

TEST_F(LitNetworkTest, LightsWithoutAChoiceAreAnError) {
  const std::vector<std::vector<std::string>> programs{
      {"Gr", "rr"}, {"GO", "rO"}, {"OO"}, {"oo"}, {"GG"}, {"Gr", "yr", "rr"}};
  for (const auto& phases : programs) {
    const NetworkReport report = look(phases);
    ASSERT_THAT(kinds(report.findings), ElementsAre("error env.scenario")) << phases.front();
    EXPECT_THAT(report.findings[0].found,
                HasSubstr("no traffic light of the network (1 in all) has two greens"));
  }
  EXPECT_THAT(kinds(look({}, {"--tls.all-off", "true"}).findings),
              ElementsAre("error env.scenario"));
}

/// SUMO switches a light off that has a program "off".
TEST_F(LitNetworkTest, ALightThatIsSwitchedOffByAProgramHasNoChoice) {
  for (const char* off : {"<tlLogic id='t' type='static' programID='off'/>",
                          "<WAUT id='w' refTime='0' startProg='off'/>"
                          "<wautJunction wautID='w' junctionID='t'/>"}) {
    EXPECT_THAT(kinds(look_at(off, {}).findings), ElementsAre("error env.scenario")) << off;
  }
}

TEST_F(NetworkStudyTest, ALoopOfSymbolicLinksCannotBeOpened) {
  std::filesystem::create_symlink("loop.rou.xml", folder_.path("loop.rou.xml"));
  folder_.write("s.sumocfg",
                "<configuration><input><net-file value='net.net.xml'/><route-files "
                "value='loop.rou.xml'/></input></configuration>");
  EXPECT_THROW(study_network({}, folder_.path("s.sumocfg")), DataError);
}

TEST_F(NetworkStudyTest, PipesAreRefusedInsteadOfWaitingForThem) {
  ASSERT_EQ(::mkfifo(folder_.path("pipe.xml").c_str(), 0600), 0);
  folder_.write("includes.rou.xml", "<routes><include href='pipe.xml'/></routes>");
  for (const std::string files :
       {"<net-file value='net.net.xml'/><route-files value='pipe.xml'/>",
        "<net-file value='net.net.xml'/><route-files value='includes.rou.xml'/>",
        "<net-file value='pipe.xml'/>"}) {
    folder_.write("s.sumocfg", "<configuration><input>" + files + "</input></configuration>");
    try {
      study_network({}, folder_.path("s.sumocfg"));
      FAIL() << "expected a DataError for " << files;
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr("pipe.xml: is a pipe"));
    }
  }
}

TEST_F(NetworkStudyTest, NamesAFileThatIsNotThere) {
  folder_.write("s.sumocfg",
                "<configuration><input><net-file value='net.net.xml'/><route-files "
                "value='no.rou.xml'/></input></configuration>");
  try {
    study_network({}, folder_.path("s.sumocfg"));
    FAIL() << "expected a DataError: the route file does not exist";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("demand "), HasSubstr("no.rou.xml")));
  }
}

}  // namespace
}  // namespace traffic::sim
