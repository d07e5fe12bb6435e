// Tests that departures, arrivals, delays and emissions of SumoEnv agree with SUMO's own trip
// information and statistics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>
#include <pugixml.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "sumo_files.h"
#include "traffic/scene/controller.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::sim {
namespace {

using testing::ScenarioFolder;

/// Numbers of an episode that both SUMO and SumoEnv report.
struct Trips {
  std::int64_t departed = 0;
  std::int64_t arrived = 0;
  std::int64_t removed = 0;
  std::int64_t running = 0;
  std::int64_t waiting = 0;
  double time_loss_s = 0;
  double depart_delay_s = 0;
  double co2_g = 0;
  double fuel_g = 0;
  double electricity_wh = 0;

  [[nodiscard]] double delay_s() const {
    return (time_loss_s + depart_delay_s) / static_cast<double>(departed + waiting);
  }
};

pugi::xml_document parsed(const std::string& file) {
  pugi::xml_document document;
  if (!document.load_file(file.c_str())) throw std::runtime_error("no " + file);
  return document;
}

/// Reads the numbers from a file of --tripinfo-output. The file also lists the vehicles that are
/// still on the road, or wait to depart, at the end.
Trips trips_in(const std::string& file) {
  Trips trips;
  const auto document = parsed(file);
  for (const auto trip : document.child("tripinfos").children("tripinfo")) {
    const bool departed = trip.attribute("depart").as_double() >= 0;
    const bool ended = trip.attribute("arrival").as_double() >= 0;
    const bool vaporized = !std::string(trip.attribute("vaporized").as_string()).empty();
    trips.departed += departed ? 1 : 0;
    trips.waiting += departed ? 0 : 1;
    trips.arrived += ended && !vaporized ? 1 : 0;
    trips.removed += ended && vaporized ? 1 : 0;
    trips.running += departed && !ended ? 1 : 0;
    if (departed) trips.time_loss_s += trip.attribute("timeLoss").as_double();
    trips.depart_delay_s += trip.attribute("departDelay").as_double();
    const auto emissions = trip.child("emissions");
    trips.co2_g += 1e-3 * emissions.attribute("CO2_abs").as_double();
    trips.fuel_g += 1e-3 * emissions.attribute("fuel_abs").as_double();
    trips.electricity_wh += emissions.attribute("electricity_abs").as_double();
  }
  return trips;
}

struct Case {
  std::string name;
  /// Writes the files. @return the .sumocfg
  std::function<std::string(const ScenarioFolder&)> write;
  std::vector<std::string> args{};
  /// Whether the episode contains what the case is about.
  std::function<bool(const scene::EpisodeScore&)> holds = [](const auto&) { return true; };
  /// Whether SUMO discards vehicles that wait too long, which its trip information leaves out.
  bool discards = false;
  /// Allowed relative deviation of emissions. They deviate in steps in which vehicles are
  /// teleported, parked, or removed before they move. The electric energy deviates by less than
  /// 1e-4 from the trip information, but not from SUMO's emission output (emissions_test.cpp).
  double emissions_deviation = 0;
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

class TripAgreement : public ::testing::TestWithParam<Case> {};

TEST_P(TripAgreement, CountsAndDelaysAreThoseOfSumo) {
  const Case& one = GetParam();
  const ScenarioFolder folder;
  const std::string trip_file = folder.path("trips.xml");
  const std::string statistics_file = folder.path("statistics.xml");
  const std::string summary_file = folder.path("summary.xml");
  std::vector<std::string> args{"--tripinfo-output",
                                trip_file,
                                "--tripinfo-output.write-unfinished",
                                "--tripinfo-output.write-undeparted",
                                "--device.emissions.probability",
                                "1",
                                "--statistic-output",
                                statistics_file,
                                "--summary-output",
                                summary_file};
  for (const auto& arg : one.args) args.push_back(arg);
  for (auto& arg : args) {
    if (const auto at = arg.find("FOLDER"); at != std::string::npos) {
      arg.replace(at, 6, folder.path().string());
    }
  }
  scene::EpisodeScore score;
  double conflict_losses_s = 0;
  {
    SumoEnv env(
        {.scenario = one.write(folder), .sumo_args = args, .emissions = true, .cv_share = 0.3});
    const auto controller = scene::make_controller("random");
    controller->reset(1);
    std::vector<scene::Command> commands;
    for (int i = 0; !env.done(); ++i) {
      if (i % 3 == 0) {
        commands.clear();
        controller->decide(env.state(), commands);
        env.apply(commands);
      }
      env.step();
      if (i % 20 == 0) {
        for (const float x : env.frame().node_features) ASSERT_TRUE(std::isfinite(x));
      }
    }
    score = env.score();
    for (const double lost_s : env.state().conflict_losses_s()) conflict_losses_s += lost_s;
  }
  const Trips trips = trips_in(trip_file);
  EXPECT_EQ(score.departed, trips.departed);
  EXPECT_EQ(score.arrived, trips.arrived);
  EXPECT_EQ(score.removed, trips.removed);
  EXPECT_EQ(score.running, trips.running);
  EXPECT_EQ(score.waiting, trips.waiting);
  // SUMO rounds the times of each vehicle to hundredths.
  const double rounding_s = 0.005 * static_cast<double>(trips.departed + trips.waiting) + 1e-6;
  EXPECT_NEAR(score.time_loss_s, trips.time_loss_s, rounding_s);
  if (one.discards) {
    EXPECT_GT(score.depart_delay_s, trips.depart_delay_s + 1000)
        << "the waiting of discarded vehicles must count as delay";
  } else {
    EXPECT_NEAR(score.depart_delay_s, trips.depart_delay_s, rounding_s);
    EXPECT_NEAR(score.delay_s(), trips.delay_s(), 0.01 + 1e-6);
  }
  // SUMO rounds the milligrams and watt-hours of each vehicle to hundredths.
  const double rounding = 0.005 * static_cast<double>(trips.departed);
  const auto deviation = [&](double sum) { return one.emissions_deviation * sum; };
  EXPECT_NEAR(score.road_emissions.co2_g, trips.co2_g, 1e-3 * rounding + deviation(trips.co2_g));
  EXPECT_NEAR(score.road_emissions.fuel_g, trips.fuel_g, 1e-3 * rounding + deviation(trips.fuel_g));
  EXPECT_NEAR(score.road_emissions.electricity_wh, trips.electricity_wh,
              rounding + deviation(trips.electricity_wh));
  EXPECT_LE(conflict_losses_s, score.lost_s() + 1e-6);
  EXPECT_LE(score.numerator(), static_cast<double>(score.departed - score.removed) + 1e-6);
  const auto statistics = parsed(statistics_file);
  const auto vehicles = statistics.child("statistics").child("vehicles");
  EXPECT_EQ(score.departed, vehicles.attribute("inserted").as_llong());
  EXPECT_EQ(score.running, vehicles.attribute("running").as_llong());
  EXPECT_EQ(score.waiting, vehicles.attribute("waiting").as_llong());
  EXPECT_EQ(score.teleports,
            statistics.child("statistics").child("teleports").attribute("total").as_llong());
  const auto summary = parsed(summary_file);
  const auto last = summary.child("summary").last_child();
  EXPECT_EQ(score.discarded, one.discards ? last.attribute("discarded").as_llong() : 0);
  EXPECT_EQ(score.discarded > 0, one.discards);
  EXPECT_TRUE(one.holds(score)) << score.departed << " " << score.arrived << " " << score.removed
                                << " " << score.teleports;
}

const char* const kCrossingNodes =
    "<node id='c' x='0' y='0' type='traffic_light'/><node id='n' x='0' y='300'/>"
    "<node id='s' x='0' y='-300'/><node id='e' x='300' y='0'/><node id='w' x='-300' y='0'/>";

/// Four arms of 300 m around a traffic light.
void build_crossing(const ScenarioFolder& folder) {
  std::string edges;
  for (const std::string arm : {"n", "s", "e", "w"}) {
    edges += "<edge id='" + arm + "c' from='" + arm + "' to='c' numLanes='2'/>";
    edges += "<edge id='c" + arm + "' from='c' to='" + arm + "' numLanes='2'/>";
  }
  folder.build_network(kCrossingNodes, edges);
}

std::string flow(const std::string& id, const std::string& ends, const std::string& attributes,
                 const std::string& inside = "") {
  const auto space = ends.find(' ');
  return "<flow id='" + id + "' begin='0' end='300' from='" + ends.substr(0, space) + "' to='" +
         ends.substr(space + 1) + "' " + attributes + ">" + inside + "</flow>";
}

/// Through traffic from all four arms.
std::string through_traffic(const std::string& attributes) {
  return flow("ns", "nc cs", attributes) + flow("sn", "sc cn", attributes) +
         flow("ew", "ec cw", attributes) + flow("we", "wc ce", attributes);
}

std::string stops(const ScenarioFolder& folder) {
  build_crossing(folder);
  folder.write("taxis.xml",
               "<additional><busStop id='b' lane='cs_0' startPos='80' endPos='120'/>"
               "<parkingArea id='p' lane='wc_0' startPos='50' endPos='90' roadsideCapacity='5'/>"
               "</additional>");
  return folder.config(
      "<vType id='bus' vClass='bus'/><vType id='taxi' vClass='taxi'><param key='has.taxi.device' "
      "value='true'/></vType>" +
          flow("b", "nc cs", "type='bus' period='40'", "<stop busStop='b' duration='60'/>") +
          flow("d", "ec cw", "probability='0.05'",
               "<stop lane='ec_0' endPos='100' duration='30' parking='true'/>") +
          flow("a", "wc ce", "probability='0.05'", "<stop parkingArea='p' duration='45'/>") +
          flow("t", "sc cn", "type='taxi' number='2'") + through_traffic("probability='0.08'") +
          "<person id='p0' depart='10'><ride from='sc' to='cn' lines='taxi'/></person>"
          "<person id='p1' depart='40'><ride from='wc' to='cs' lines='taxi'/></person>",
      300);
}

std::string jam(const ScenarioFolder& folder) {
  build_crossing(folder);
  return folder.config(through_traffic("probability='0.25' departLane='best'") +
                           "<vehicle id='stands' depart='5' departLane='0'><route edges='nc cs'/>"
                           "<stop lane='cs_0' endPos='150' duration='400'/></vehicle>"
                           "<vehicle id='beside' depart='5' departLane='1'><route edges='nc cs'/>"
                           "<stop lane='cs_1' endPos='150' duration='400'/></vehicle>",
                       300);
}

std::string overtaking(const ScenarioFolder& folder) {
  folder.build_network(
      "<node id='a' x='0' y='0'/><node id='b' x='1500' y='0' type='priority'/>"
      "<node id='c' x='1500' y='-300'/><node id='d' x='2000' y='0'/>",
      "<edge id='ab' from='a' to='b' speed='27' priority='3'/>"
      "<edge id='ba' from='b' to='a' speed='27' priority='3'/>"
      "<edge id='cb' from='c' to='b' priority='1'/>"
      "<edge id='bd' from='b' to='d' priority='3' speed='27'/>"
      "<edge id='db' from='d' to='b' priority='3' speed='27'/>",
      "", "--opposites.guess true");
  return folder.config(
      "<vType id='slow' maxSpeed='8' vClass='moped'/><vType id='fast' lcOpposite='10'/>" +
          flow("s", "ab bd", "type='slow' period='30'") +
          flow("f", "ab bd", "type='fast' probability='0.1' departSpeed='max'") +
          flow("o", "db ba", "type='fast' period='60'") + flow("c", "cb bd", "probability='0.05'") +
          // The edge of the opposite direction is on their route, too.
          "<flow id='u' begin='0' end='300' type='fast' period='20' departSpeed='max'>"
          "<route edges='ab ba'/></flow>",
      300);
}

std::string rail(const ScenarioFolder& folder) {
  folder.build_network(
      "<node id='w' x='-500' y='0'/><node id='s1' x='-250' y='0' type='rail_signal'/>"
      "<node id='x' x='0' y='0' type='rail_crossing'/>"
      "<node id='s2' x='250' y='0' type='rail_signal'/><node id='e' x='500' y='0'/>"
      "<node id='n' x='0' y='300'/><node id='c' x='0' y='-100' type='priority'/>"
      "<node id='s' x='0' y='-300'/><node id='q' x='200' y='-100'/>",
      "<edge id='t1' from='w' to='s1' allow='rail' speed='30'/>"
      "<edge id='t2' from='s1' to='x' allow='rail' speed='30'/>"
      "<edge id='t3' from='x' to='s2' allow='rail' speed='30'/>"
      "<edge id='t4' from='s2' to='e' allow='rail' speed='30'/>"
      "<edge id='r1' from='n' to='x' disallow='rail'/>"
      "<edge id='r2' from='x' to='c' disallow='rail' priority='2'/>"
      "<edge id='r3' from='c' to='s' disallow='rail' priority='2'/>"
      "<edge id='q1' from='q' to='c' disallow='rail' priority='1'/>");
  return folder.config(
      "<vType id='train' vClass='rail'/>" + flow("t", "t1 t4", "type='train' period='90'") +
          flow("c", "r1 r3", "probability='0.2'") + flow("q", "q1 r3", "probability='0.15'"),
      300);
}

std::string through(const ScenarioFolder& folder) {
  build_crossing(folder);
  folder.write("vaporizer.xml",
               "<additional><vaporizer id='cs' begin='50' end='250'/>"
               "</additional>");
  folder.write("calibrator.xml",
               "<additional><route id='a' edges='nc cs'/>"
               "<calibrator id='c' edge='nc' pos='60' period='60'>"
               "<flow begin='0' end='300' route='a' vehsPerHour='100' speed='13'/></calibrator>"
               "</additional>");
  folder.write("reroute.xml",
               "<additional><rerouter id='r' edges='nc'><interval begin='0' end='300'>"
               "<destProbReroute id='ce' probability='0.5'/>"
               "<destProbReroute id='cs' probability='0.5'/></interval></rerouter>"
               "<variableSpeedSign id='v' lanes='wc_0 wc_1'><step time='0' speed='5'/>"
               "<step time='100' speed='15'/></variableSpeedSign></additional>");
  return folder.config(through_traffic("probability='0.15' departLane='best'"), 300);
}

/// A vehicle whose route has a gap, over which SUMO moves it after a stop.
std::string jumps(const ScenarioFolder& folder) {
  build_crossing(folder);
  return folder.config(through_traffic("probability='0.15' departLane='best'") +
                           "<vehicle id='jumps' depart='5'><route edges='nc cs wc ce'/>"
                           "<stop lane='cs_0' endPos='100' duration='5' jump='10'/></vehicle>",
                       300);
}

std::string zones(const ScenarioFolder& folder) {
  build_crossing(folder);
  folder.write("zones.xml",
               "<additional><taz id='north'><tazSource id='nc' weight='1'/><tazSink id='cn' "
               "weight='1'/></taz><taz id='south'><tazSource id='sc' weight='1'/><tazSink id='cs' "
               "weight='1'/></taz></additional>");
  return folder.config(
      "<flow id='z' begin='0' end='300' period='1' fromTaz='north' toTaz='south'/>"
      "<flow id='j' begin='0' end='300' probability='0.2' fromJunction='e' toJunction='w'/>",
      300);
}

std::string zero(const ScenarioFolder& folder) {
  build_crossing(folder);
  std::string net = folder.read("net.net.xml");
  const auto replace_first = [&](const std::string& after, const std::string& attribute,
                                 const std::string& value) {
    const auto lane = net.find("<lane id=\"" + after);
    const auto begin = net.find(attribute + "=\"", lane) + attribute.size() + 2;
    net.replace(begin, net.find('"', begin) - begin, value);
  };
  replace_first(":c_1_0", "length", "0.00");
  replace_first("ce_0", "speed", "0.00");
  folder.write("net.net.xml", net);
  return folder.config(through_traffic("probability='0.1'") + flow("n", "nc ce", "period='50'"),
                       300);
}

std::string loops(const ScenarioFolder& folder) {
  folder.build_network(
      "<node id='a' x='0' y='0'/><node id='b' x='300' y='0'/>"
      "<node id='c' x='300' y='300'/><node id='d' x='0' y='300'/>",
      "<edge id='ab' from='a' to='b'/><edge id='bc' from='b' to='c'/>"
      "<edge id='cd' from='c' to='d'/><edge id='da' from='d' to='a'/>"
      "<edge id='ac' from='a' to='c'/>");
  return folder.config(
      "<flow id='s' begin='0' end='300' period='2' departPos='260' arrivalPos='265'>"
      "<route edges='bc'/></flow>"
      "<flow id='l' begin='0.3' end='300' period='7.3'>"
      "<route edges='ab bc cd da ab bc cd da ab bc'/></flow>",
      300, "<step-length value='0.5'/>");
}

std::string many(const ScenarioFolder& folder) {
  folder.use_merge_network();
  return folder.config(
      "<flow id='r' begin='0' end='200' probability='0.4'><route edges='ramp mrg down'/></flow>"
      "<flow id='m' begin='0.25' end='200' period='0.4'><route edges='up mrg down'/></flow>",
      260);
}

/// Electric cars of SUMO's energy model, without and with a battery.
std::string electric(const ScenarioFolder& folder) {
  folder.use_merge_network();
  return folder.config(
      "<vType id='car' emissionClass='Energy/unknown'/>"
      "<vType id='van' emissionClass='Energy/unknown' mass='3000'>"
      "<param key='has.battery.device' value='true'/></vType>"
      "<flow id='r' type='car' begin='0' end='200' period='4'><route edges='ramp mrg down'/></flow>"
      "<flow id='m' type='van' begin='0' end='200' period='3'><route edges='up mrg down'/></flow>",
      260);
}

std::string crashes(const ScenarioFolder& folder) {
  folder.use_merge_network();
  return folder.config(
      "<vType id='blind' sigma='0' tau='0.1' minGap='0' decel='9' apparentDecel='0.2' "
      "actionStepLength='5'/>"
      "<flow id='n' begin='0' end='300' period='3' departLane='random' departSpeed='max'>"
      "<route edges='up mrg down'/></flow>"
      "<vehicle id='stands' depart='60'><route edges='up mrg down'/>"
      "<stop lane='up_0' endPos='300' duration='60'/></vehicle>"
      "<flow id='m' type='blind' begin='100' end='300' period='9' departLane='random' "
      "departSpeed='max'><route edges='up mrg down'/></flow>",
      300, "<collision.action value='remove'/>");
}

/// Links of the light in the middle of a crossing.
std::size_t num_links(const ScenarioFolder& folder) {
  std::size_t links = 0;
  const auto net = parsed(folder.path("net.net.xml"));
  for (const auto connection : net.child("net").children("connection")) {
    links += connection.attribute("tl") ? 1 : 0;
  }
  return links;
}

std::string ring_light(const ScenarioFolder& folder) {
  build_crossing(folder);
  const auto phase = [](const std::string& number, const std::string& state) {
    return "<phase duration='99' minDur='5' maxDur='30' vehext='2' yellow='3' red='2' name='" +
           number + "' state='" + state + "'/>";
  };
  const std::string red(4, 'r');
  const std::string green(4, 'G');
  const std::string rest(num_links(folder) - 16, 'r');
  folder.write("nema.xml",
               "<additional><tlLogic id='c' type='NEMA' programID='N' offset='0'>"
               "<param key='ring1' value='0,2,0,4'/><param key='ring2' value='0,6,0,8'/>"
               "<param key='barrierPhases' value='4,8'/><param key='barrier2Phases' value='2,6'/>"
               "<param key='minRecall' value='2,6'/><param key='total-cycle-length' value='90'/>" +
                   phase("2", green + red + red + red + rest) +
                   phase("4", red + green + red + red + rest) +
                   phase("6", red + red + green + red + rest) +
                   phase("8", red + red + red + green + rest) + "</tlLogic></additional>");
  return folder.config(through_traffic("probability='0.1'"), 300);
}

TEST(NemaLight, GreensAreTheStatesThatItShows) {
  const ScenarioFolder folder;
  const std::string scenario = ring_light(folder);
  SumoEnv env({.scenario = scenario, .sumo_args = {"-a", folder.path("nema.xml")}});
  std::set<std::string> shown;
  for (int i = 0; i < 120; ++i) {
    env.step();
    const std::string& state = env.state().lights()[0].state;
    if (state.find('G') != std::string::npos) shown.insert(state);
  }
  EXPECT_GE(shown.size(), 2U);
  env.take_signals();
  const scene::SignalPlan& plan = env.signals().book().plan(0);
  for (const std::string& state : shown) EXPECT_GE(plan.find(state), 0) << state;
  while (!env.done() && !env.signals().book().may_switch(0)) env.step();
  EXPECT_TRUE(env.signals().book().may_switch(0));
}

TEST(RailCrossing, CarsSeeTheLightOfTheCrossing) {
  const ScenarioFolder folder;
  SumoEnv env({.scenario = rail(folder)});
  const auto& lights = env.road().lights;
  const auto crossing =
      static_cast<std::size_t>(std::find(lights.begin(), lights.end(), "x") - lights.begin());
  ASSERT_LT(crossing, lights.size());
  const auto red = static_cast<std::size_t>(scene::node_feature_index("signal_red"));
  std::set<bool> seen;
  while (!env.done()) {
    env.step();
    const bool closed = !scene::may_drive(env.state().lights()[crossing].state[0]);
    const auto vehicles = env.state().vehicles();
    for (std::size_t i = 0; i < vehicles.size(); ++i) {
      const auto& lane = env.road().lanes[static_cast<std::size_t>(vehicles[i].lane)];
      if (lane.id != "r2_0") continue;  // between the crossing and the stop line
      const float* row = env.frame().node_features.data() + i * scene::node_features().size();
      EXPECT_EQ(row[red] > 0, closed) << env.time_s();
      seen.insert(closed);
    }
  }
  EXPECT_TRUE(seen.contains(false));
}

const auto kRemoves = [](const auto& score) { return score.removed > 0; };
const auto kTeleports = [](const auto& score) { return score.teleports > 0; };
const auto kNoTeleports = [](const auto& score) { return score.teleports == 0; };

INSTANTIATE_TEST_SUITE_P(
    All, TripAgreement,
    ::testing::Values(
        Case{.name = "merge", .write = [](const auto&) { return std::string("merge"); }},
        Case{.name = "electric",
             .write = electric,
             .holds =
                 [](const auto& score) {
                   return score.road_emissions.electricity_wh > 0 &&
                          score.road_emissions.co2_g == 0;
                 },
             .emissions_deviation = 1e-4},
        Case{.name = "lights", .write = [](const auto&) { return std::string("lights_grid"); }},
        Case{.name = "stops",
             .write = stops,
             .args = {"-a", "FOLDER/taxis.xml"},
             .emissions_deviation = 1e-3},
        Case{.name = "jam", .write = jam, .emissions_deviation = 1e-3},
        Case{.name = "teleports",
             .write = jam,
             .args = {"--time-to-teleport", "20"},
             .holds = kTeleports,
             .emissions_deviation = 1e-3},
        Case{.name = "jumps", .write = jumps, .holds = kNoTeleports, .emissions_deviation = 1e-3},
        Case{.name = "deleted_in_jams",
             .write = jam,
             .args = {"--time-to-teleport", "20", "--time-to-teleport.remove", "true"},
             .holds = kRemoves,
             .emissions_deviation = 1e-3},
        Case{.name = "gives_up",
             .write = many,
             .args = {"--max-depart-delay", "30"},
             .discards = true},
        Case{.name = "opposite", .write = overtaking}, Case{.name = "rail", .write = rail},
        Case{.name = "vaporizer",
             .write = through,
             .args = {"-a", "FOLDER/vaporizer.xml"},
             .holds = kRemoves},
        Case{.name = "calibrator",
             .write = through,
             .args = {"-a", "FOLDER/calibrator.xml"},
             .holds = kRemoves,
             .emissions_deviation = 1e-2},
        Case{.name = "reroute", .write = through, .args = {"-a", "FOLDER/reroute.xml"}},
        Case{.name = "rerouting_devices",
             .write = through,
             .args = {"--device.rerouting.probability", "1", "--device.rerouting.period", "10"}},
        Case{.name = "zones",
             .write = zones,
             .args = {"-a", "FOLDER/zones.xml", "--junction-taz", "true"}},
        Case{.name = "zero", .write = zero}, Case{.name = "loops", .write = loops},
        Case{.name = "many", .write = many},
        Case{.name = "crashes", .write = crashes, .holds = kRemoves},
        Case{.name = "sublane",
             .write = overtaking,
             .args = {"--lateral-resolution", "0.8"},
             .emissions_deviation = 1e-3},
        Case{.name = "ballistic", .write = many, .args = {"--step-method.ballistic", "true"}},
        Case{.name = "rings", .write = ring_light, .args = {"-a", "FOLDER/nema.xml"}}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace traffic::sim
