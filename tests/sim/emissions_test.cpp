// Emissions of single vehicles agree with SUMO's own emission output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <pugixml.hpp>
#include <set>
#include <string>
#include <utility>

#include "sumo_files.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::sim {
namespace {

using testing::ScenarioFolder;

/// Emissions of a vehicle in a step, by the time at the start of the step and the vehicle's name.
using EmissionLog = std::map<std::pair<int, std::string>, scene::Emissions>;

/// Reads a file of --emission-output, of a simulation with steps of 1 s.
EmissionLog emissions_in(const std::string& file) {
  pugi::xml_document document;
  EXPECT_TRUE(document.load_file(file.c_str())) << file;
  EmissionLog log;
  for (const auto step : document.child("emission-export").children("timestep")) {
    for (const auto vehicle : step.children("vehicle")) {
      log[{step.attribute("time").as_int(), vehicle.attribute("id").as_string()}] = {
          .co2_g = 1e-3 * vehicle.attribute("CO2").as_double(),
          .fuel_g = 1e-3 * vehicle.attribute("fuel").as_double(),
          .electricity_wh = vehicle.attribute("electricity").as_double()};
    }
  }
  return log;
}

/// Vehicles of each kind of emission class on the shipped merge: combustion engines of several
/// sizes, electric cars, and vehicles without emissions. The ramp has more traffic than can enter.
std::string mixed_traffic(const ScenarioFolder& folder) {
  folder.use_merge_network();
  return folder.config(
      "<vType id='petrol'/>"
      "<vType id='diesel' emissionClass='HBEFA4/PC_diesel_Euro-6ab'/>"
      "<vType id='truck' vClass='truck' emissionClass='HBEFA4/RT_le7.5t_Euro-VI_A-C'/>"
      "<vType id='old' emissionClass='HBEFA3/PC_G_EU4'/>"
      "<vType id='electric' emissionClass='Energy/unknown'/>"
      "<vType id='zero' emissionClass='Zero'/>"
      "<flow id='p' type='petrol' begin='0' end='120' period='3'><route edges='up mrg "
      "down'/></flow>"
      "<flow id='d' type='diesel' begin='0' end='120' period='7'><route edges='up mrg "
      "down'/></flow>"
      "<flow id='t' type='truck' begin='0' end='120' period='9'><route edges='up mrg down'/></flow>"
      "<flow id='o' type='old' begin='0' end='120' period='2'><route edges='ramp mrg down'/></flow>"
      "<flow id='e' type='electric' begin='0' end='120' period='2'><route edges='ramp mrg "
      "down'/></flow>"
      "<flow id='z' type='zero' begin='0' end='120' period='3'><route edges='ramp mrg "
      "down'/></flow>",
      160);
}

TEST(EmissionsOfVehicles, AreThoseOfSumoInEveryStep) {
  const ScenarioFolder folder;
  const std::string file = (folder.path() / "emissions.xml").string();
  EmissionLog ours;
  std::set<std::string> kinds;
  {
    SumoEnv env({.scenario = mixed_traffic(folder),
                 .sumo_args = {"--emission-output", file, "--precision", "6"},
                 .emissions = true});
    ASSERT_EQ(env.step_length_s(), 1.0);
    while (!env.done()) {
      env.step();
      for (const scene::Vehicle& vehicle : env.state().vehicles()) {
        const std::string& name = env.name_of(vehicle.id);
        ours[{static_cast<int>(env.time_s()) - 1, name}] = vehicle.step_emissions;
        kinds.insert(name.substr(0, 1));
      }
    }
    EXPECT_GT(env.score().waiting_emissions.co2_g, 0.0);
    EXPECT_GT(env.score().waiting_emissions.electricity_wh, 0.0);
  }
  EXPECT_EQ(kinds.size(), 6U);
  const EmissionLog of_sumo = emissions_in(file);
  std::set<std::string> seen;
  std::size_t compared = 0;
  scene::Emissions sum;
  for (const auto& [key, expected] : of_sumo) {
    // SUMO's trip information leaves out the step in which a vehicle enters, and so does the score.
    const bool is_first = seen.insert(key.second).second;
    const auto found = ours.find(key);
    ASSERT_NE(found, ours.end()) << key.second << " at " << key.first;
    const scene::Emissions& vehicle = found->second;
    if (is_first) {
      EXPECT_EQ(vehicle.co2_g + vehicle.fuel_g + vehicle.electricity_wh, 0.0) << key.second;
      continue;
    }
    // SUMO prints mg and Wh with six decimals.
    EXPECT_NEAR(vehicle.co2_g, expected.co2_g, 0.6e-9) << key.second << " at " << key.first;
    EXPECT_NEAR(vehicle.fuel_g, expected.fuel_g, 0.6e-9) << key.second << " at " << key.first;
    EXPECT_NEAR(vehicle.electricity_wh, expected.electricity_wh, 0.6e-6)
        << key.second << " at " << key.first;
    if (key.second.front() == 'z') {
      EXPECT_EQ(vehicle.co2_g + vehicle.fuel_g + vehicle.electricity_wh, 0.0) << key.second;
    }
    sum += vehicle;
    ++compared;
  }
  EXPECT_GT(compared, 2000U);
  EXPECT_GT(sum.co2_g, 0.0);
  EXPECT_GT(sum.fuel_g, 0.0);
  EXPECT_GT(sum.electricity_wh, 0.0);
}

}  // namespace
}  // namespace traffic::sim
