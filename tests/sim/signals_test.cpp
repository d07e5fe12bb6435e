// Safety of traffic lights under control, read from what SUMO itself shows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <pugixml.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "traffic/core/error.h"
#include "traffic/core/random.h"
#include "traffic/scene/controller.h"
#include "traffic/sim/scenario.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::sim {
namespace {

constexpr int kSteps = 300;
constexpr double kYellow_s = 3.0;
constexpr double kMinGreen_s = 5.0;

/// Pairs of links of each light whose streams meet, from the network file.
using Foes = std::map<std::string, std::set<std::pair<int, int>>>;

Foes read_foes(const std::string& scenario) {
  std::filesystem::path net = find_scenario(scenario);
  net.replace_extension(".net.xml");
  pugi::xml_document document;
  if (!document.load_file(net.c_str())) throw std::runtime_error("no network " + net.string());
  const auto root = document.child("net");
  struct Lit {
    std::string light;
    int link = -1;
  };
  std::map<std::string, std::vector<Lit>> links;  // by lane, in the order of the file
  for (const auto c : root.children("connection")) {
    const std::string lane =
        std::string(c.attribute("from").as_string()) + "_" + c.attribute("fromLane").as_string();
    links[lane].push_back({c.attribute("tl").as_string(), c.attribute("linkIndex").as_int(-1)});
  }
  Foes foes;
  for (const auto junction : root.children("junction")) {
    std::vector<Lit> of_junction;
    std::istringstream lanes(junction.attribute("incLanes").as_string());
    for (std::string lane; lanes >> lane;) {
      if (lane.front() == ':') continue;
      of_junction.insert(of_junction.end(), links[lane].begin(), links[lane].end());
    }
    std::size_t i = 0;
    for (const auto request : junction.children("request")) {
      const std::string bits = request.attribute("foes").as_string();
      for (std::size_t k = 0; i < of_junction.size() && k < of_junction.size(); ++k) {
        const Lit& a = of_junction[i];
        const Lit& b = of_junction[k];
        if (bits[bits.size() - 1 - k] == '1' && !a.light.empty() && a.light == b.light) {
          foes[a.light].insert({a.link, b.link});
        }
      }
      ++i;
    }
  }
  return foes;
}

/// Asks every light for a random green whenever the light may switch.
class Restless final : public scene::Controller {
 public:
  void reset(std::uint64_t seed) override { rng_ = Rng(seed); }
  void decide(const scene::RoadState& /*state*/, std::vector<scene::Command>& /*to*/) override {}
  [[nodiscard]] bool sets_signals() const override { return true; }
  void decide_signals(const scene::SignalView& view,
                      std::vector<scene::SignalCommand>& commands) override {
    for (int light = 0; light < view.book().num_lights(); ++light) {
      if (!view.book().may_switch(light)) continue;
      const auto greens = view.book().plan(light).greens().size();
      commands.push_back({light, static_cast<std::int32_t>(rng_.uniform_int(greens))});
    }
  }
  [[nodiscard]] std::string_view name() const override { return "restless"; }
  [[nodiscard]] double period_s() const override { return 1.0; }

 private:
  Rng rng_{0};
};

/// The states that each light showed, step by step.
std::vector<std::vector<std::string>> run(SumoEnv& env, scene::Controller& controller) {
  std::vector<std::vector<std::string>> shown(env.road().lights.size());
  std::vector<scene::SignalCommand> commands;
  controller.reset(3);
  env.take_signals(controller.signal_mode());
  double next_s = 0;
  for (int i = 0; i < kSteps; ++i) {
    if (env.time_s() >= next_s - 1e-6) {
      commands.clear();
      controller.decide_signals(env.signals(), commands);
      env.apply(commands);
      next_s += controller.period_s();
    }
    env.step();
    for (std::size_t l = 0; l < shown.size(); ++l)
      shown[l].push_back(env.state().lights()[l].state);
  }
  return shown;
}

void expect_no_foes_with_priority(const std::vector<std::string>& shown,
                                  const std::set<std::pair<int, int>>& foes) {
  for (const auto& [a, b] : foes) {
    for (const std::string& state : shown) {
      ASSERT_FALSE(state[static_cast<std::size_t>(a)] == 'G' &&
                   state[static_cast<std::size_t>(b)] == 'G')
          << "links " << a << " and " << b << " in " << state;
    }
  }
}

void expect_yellow_after_green(const std::vector<std::string>& shown) {
  for (std::size_t link = 0; link < shown.front().size(); ++link) {
    int yellow = 0;
    for (std::size_t t = 1; t < shown.size(); ++t) {
      const char before = shown[t - 1][link];
      const char now = shown[t][link];
      ASSERT_FALSE(scene::is_green(before) && now == 'r') << "link " << link << " at " << t;
      if (before == 'y' && now != 'y') {
        ASSERT_EQ(yellow, kYellow_s) << "link " << link;
      }
      yellow = now == 'y' ? yellow + 1 : 0;
    }
  }
}

void expect_least_green(const std::vector<std::string>& shown) {
  int steps = 0;
  for (std::size_t t = 1; t < shown.size(); ++t) {
    ++steps;
    if (shown[t] == shown[t - 1]) continue;
    const bool was_green = shown[t - 1].find('y') == std::string::npos &&
                           shown[t - 1].find_first_of("Gg") != std::string::npos;
    const bool leads_to_yellow = shown[t].find('y') != std::string::npos;
    if (was_green && leads_to_yellow) {
      ASSERT_GE(steps, kMinGreen_s) << shown[t - 1];
    }
    steps = 0;
  }
}

class Signals : public ::testing::TestWithParam<const char*> {};

TEST_P(Signals, AreSafeUnderRandomCommands) {
  SumoEnv env({.scenario = GetParam(), .seed = 4});
  const Foes foes = read_foes(GetParam());
  ASSERT_FALSE(foes.empty());
  Restless controller;
  const auto shown = run(env, controller);
  EXPECT_GT(env.score().signal_changes, 10 * static_cast<std::int64_t>(shown.size()));
  for (std::size_t l = 0; l < shown.size(); ++l) {
    SCOPED_TRACE(env.road().lights[l]);
    expect_no_foes_with_priority(shown[l], foes.at(env.road().lights[l]));
    expect_yellow_after_green(shown[l]);
    expect_least_green(shown[l]);
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, Signals,
                         ::testing::Values("lights_grid", "lights_arterial", "lights_phases",
                                           "lights_town"));

TEST(SignalControl, OneGreenOfAGridOfLightsIsOnFromTheFirstStep) {
  SumoEnv env({.scenario = "lights_grid"});
  env.take_signals();
  env.step();
  for (int light = 0; light < env.signals().book().num_lights(); ++light) {
    const auto present = static_cast<std::size_t>(env.signals().book().present(light));
    EXPECT_EQ(env.signals().book().plan(light).greens()[present].state,
              env.state().lights()[static_cast<std::size_t>(light)].state);
  }
}

TEST(SignalControl, AnEpisodeRepeatsToTheBitAndTheNextOneRunsItsProgramsAgain) {
  SumoEnv env({.scenario = "lights_arterial"});
  const auto controller = scene::make_controller("max_pressure");
  env.reset(8);
  const auto first = run(env, *controller);
  const double lost_s = env.score().lost_s();
  env.reset(8);
  for (int i = 0; i < kSteps; ++i) env.step();
  EXPECT_EQ(env.score().signal_changes, 0);
  EXPECT_NE(env.score().lost_s(), lost_s);
  env.reset(8);
  EXPECT_EQ(run(env, *controller), first);
  EXPECT_EQ(env.score().lost_s(), lost_s);
}

/// How long each state was shown, in whole steps; the last one may have been cut off.
std::vector<std::pair<std::string, int>> durations_of(const std::vector<std::string>& shown) {
  std::vector<std::pair<std::string, int>> durations;
  for (const std::string& state : shown) {
    if (durations.empty() || durations.back().first != state) durations.push_back({state, 0});
    ++durations.back().second;
  }
  return durations;
}

TEST(SignalControl, RetimeKeepsTheOrderOfPhasesAndTheirLimits) {
  SumoEnv env({.scenario = "lights_arterial"});
  env.reset(8);
  std::vector<std::string> order;
  std::map<std::string, double> planned_s;
  env.take_signals(scene::SignalMode::kKeepsPrograms);
  for (const scene::SignalPhase& phase : env.signals().book().plan(0).phases()) {
    order.push_back(phase.state);
    planned_s[phase.state] = phase.duration_s;
  }
  env.reset(8);
  const auto controller = scene::make_controller("retime");
  const auto durations = durations_of(run(env, *controller).front());
  ASSERT_GT(durations.size(), 4U);
  auto place = std::ranges::find(order, durations.front().first) - order.begin();
  bool any_differs = false;
  bool any_is_shortest = false;
  for (std::size_t i = 0; i + 1 < durations.size(); ++i) {
    const auto& [state, seconds] = durations[i];
    EXPECT_EQ(state, order[static_cast<std::size_t>(place)])
        << "the phases must keep the order of the program";
    place = (place + 1) % std::ssize(order);
    if (i == 0) continue;  // this phase began before the first step
    const bool is_long_green = planned_s[state] >= 10 && state.find('y') == std::string::npos;
    EXPECT_GE(seconds, is_long_green ? planned_s[state] / 2 : planned_s[state]);
    EXPECT_LE(seconds, is_long_green ? planned_s[state] * 1.5 : planned_s[state]);
    any_is_shortest |= is_long_green && seconds == std::ceil(planned_s[state] / 2);
    any_differs |= seconds != static_cast<int>(planned_s[state]);
  }
  EXPECT_TRUE(any_differs);
  EXPECT_TRUE(any_is_shortest);
  EXPECT_GT(env.score().signal_changes, 0);
}

TEST(SignalControl, RetimeWithoutRangeLeavesAFixedProgramAsItIs) {
  SumoEnv env({.scenario = "lights_arterial", .signal_limits = {.phase_range = 0.0}});
  env.reset(8);
  const auto controller = scene::make_controller("retime");
  const auto shown = run(env, *controller);
  EXPECT_EQ(env.score().signal_changes, 0);
  const double lost_s = env.score().lost_s();
  env.reset(8);
  for (int i = 0; i < kSteps; ++i) env.step();
  EXPECT_EQ(env.score().lost_s(), lost_s);
}

TEST(SignalControl, CommandsBeforeLightsAreTakenOverAreRefused) {
  SumoEnv env({.scenario = "lights_arterial"});
  EXPECT_THROW(env.apply(std::vector<scene::SignalCommand>{{0, 0}}), Error);
}

}  // namespace
}  // namespace traffic::sim
