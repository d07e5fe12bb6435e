// The shipped corridor: four ramps that lights release onto a mainline of two lanes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "traffic/scene/controller.h"
#include "traffic/scene/frame.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::sim {
namespace {

/// The ramps' lights have a cycle of 150 s: first red, then green, then 3 s of yellow.
constexpr double kRed_s = 90;
constexpr double kGreen_s = 57;

void run_to(SumoEnv& env, double time_s) {
  while (env.time_s() < time_s) env.step();
}

double feature(SumoEnv& env, std::size_t node, std::string_view name) {
  const std::size_t columns = scene::node_features().size();
  return env.frame()
      .node_features[node * columns + static_cast<std::size_t>(scene::node_feature_index(name))];
}

const scene::Approach& approach_of(const SumoEnv& env, const scene::Vehicle& v) {
  const auto& conflict = env.road().conflicts[static_cast<std::size_t>(v.conflict)];
  return conflict.approaches[static_cast<std::size_t>(v.approach)];
}

TEST(Corridor, HasFourConflictsOfAMainlineAndAReleasedRamp) {
  SumoEnv env({.scenario = "corridor"});
  ASSERT_EQ(env.road().conflicts.size(), 4U);
  for (const scene::Conflict& conflict : env.road().conflicts) {
    ASSERT_EQ(conflict.approaches.size(), 2U);
    for (const scene::Approach& approach : conflict.approaches) {
      const auto& edge = env.road().edges[static_cast<std::size_t>(approach.edge)].id;
      EXPECT_EQ(approach.major, edge.starts_with("main")) << edge;
      EXPECT_EQ(approach.minor, edge.starts_with("ramp")) << edge;
      EXPECT_EQ(approach.lanes.size(), approach.major ? 2U : 1U);
      EXPECT_EQ(approach.light_links.size(), approach.lanes.size());
      EXPECT_EQ(approach.conflicting.size(), 1U);
    }
  }
}

TEST(Corridor, CandidatesAreTheFirstCvOfEachLaneWhileTheRampsAreReleased) {
  SumoEnv env({.scenario = "corridor"});
  env.reset(1);
  const scene::CandidateRule rule{.zone_m = 200, .lead_only = true, .released_only = true};
  std::vector<scene::Candidate> candidates;
  std::size_t most = 0;
  for (; env.time_s() < 600; env.step()) {
    scene::find_candidates(env.state(), rule, candidates);
    const double in_cycle = std::fmod(env.time_s(), 150.0);
    if (in_cycle < kRed_s || in_cycle > kRed_s + kGreen_s) {
      EXPECT_TRUE(candidates.empty()) << env.time_s();
    }
    std::map<int, int> of_lane;
    for (const auto& [node, conflict, approach] : candidates) {
      const auto& v = env.state().vehicles()[static_cast<std::size_t>(node)];
      EXPECT_TRUE(v.is_cv && v.first_cv && v.line_m <= 200);
      EXPECT_TRUE(approach_of(env, v).major);
      EXPECT_EQ(++of_lane[v.stop_lane], 1);
    }
    most = std::max(most, candidates.size());
  }
  EXPECT_GE(most, 5U);  // of eight lanes
  EXPECT_LE(most, 8U);
}

TEST(Corridor, TheMainlineSeesTheRampsSignalQueueAndBacklog) {
  SumoEnv env({.scenario = "corridor"});
  env.reset(1);
  run_to(env, 900 + kRed_s + 10);
  bool any = false;
  int backlog = 0;
  for (std::size_t i = 0; i < env.state().vehicles().size(); ++i) {
    const scene::Vehicle& v = env.state().vehicles()[i];
    if (v.conflict < 0 || v.line_m > 200 || !approach_of(env, v).major) continue;
    any = true;
    EXPECT_EQ(feature(env, i, "conflicting_signal"), 1);
    EXPECT_EQ(feature(env, i, "conflicting_green"), 1);
    EXPECT_FLOAT_EQ(static_cast<float>(feature(env, i, "conflicting_change_s")),
                    static_cast<float>(kGreen_s - 10));
    EXPECT_FLOAT_EQ(static_cast<float>(feature(env, i, "conflicting_cycle")),
                    static_cast<float>((kRed_s + 10) / 150));
    EXPECT_GT(feature(env, i, "conflicting_queue"), 5);
    backlog += static_cast<int>(feature(env, i, "conflicting_backlog"));
    EXPECT_EQ(feature(env, i, "signal_red"), 0);
  }
  EXPECT_TRUE(any);
  EXPECT_GT(backlog, 0);
}

TEST(Corridor, AHeldVehicleReachesTheLineWhenTheRampsGreenEnds) {
  SumoEnv env({.scenario = "corridor"});
  env.reset(2);
  run_to(env, 300 + kRed_s + 1);
  const auto vehicles = env.state().vehicles();
  const auto found = std::find_if(vehicles.begin(), vehicles.end(), [&](const scene::Vehicle& v) {
    return v.first_cv && v.line_m > 100 && v.line_m < 200 && approach_of(env, v).major;
  });
  ASSERT_NE(found, vehicles.end());
  const std::uint32_t id = found->id;
  const int conflict = found->conflict;
  const scene::Command command{
      .vehicle_id = id, .longitudinal = scene::Longitudinal::kArriveLate, .hold_s = 60};
  env.apply(std::span(&command, 1));
  const double end_s = 300 + kRed_s + kGreen_s;
  while (env.time_s() < end_s - 1) {
    env.step();
    const scene::Vehicle* v =
        std::find_if(env.state().vehicles().data(),
                     env.state().vehicles().data() + env.state().vehicles().size(),
                     [&](const scene::Vehicle& other) { return other.id == id; });
    ASSERT_NE(v, env.state().vehicles().data() + env.state().vehicles().size());
    ASSERT_EQ(v->conflict, conflict)
        << "the vehicle passed the conflict too early, at " << env.time_s() << " s";
    EXPECT_TRUE(v->commanded);
  }
  run_to(env, end_s + 10);
  for (const scene::Vehicle& v : env.state().vehicles()) {
    if (v.id != id) continue;
    EXPECT_NE(v.conflict,
              conflict);  // the mainline's light is always green, so it passed without waiting
    EXPECT_FALSE(v.commanded);  // the command ended when it passed the conflict
  }
}

TEST(Corridor, EveryConflictHasItsPartOfTheGrowth) {
  SumoEnv env({.scenario = "corridor"});
  env.reset(1);
  run_to(env, 600);
  const auto parts = env.state().conflict_numerators();
  ASSERT_EQ(parts.size(), 4U);
  for (const double part : parts) EXPECT_GT(part, 0);
  // When a vehicle passes a conflict, that conflict is credited with the whole rest of the route.
  // Later conflicts are credited with parts of it again, so the sum exceeds the total.
  EXPECT_GT(std::accumulate(parts.begin(), parts.end(), 0.0), env.score().numerator());
}

TEST(Corridor, YieldingLetsMoreThroughThanNoControl) {
  SumoEnv env({.scenario = "corridor", .max_time_s = 1500});
  double scores[2] = {0, 0};
  for (int k = 0; k < 2; ++k) {
    const auto controller = scene::make_controller(k == 0 ? "none" : "yield", {.top_k = 10});
    std::vector<scene::Command> commands;
    for (env.reset(10); !env.done(); env.step()) {
      if (std::fmod(env.time_s(), controller->period_s()) != 0) continue;
      commands.clear();
      controller->decide(env.state(), commands);
      env.apply(commands);
    }
    scores[k] = env.score().ocr_all();
    EXPECT_EQ(env.score().collisions, 0);
  }
  EXPECT_GT(scores[1], 1.05 * scores[0]);
}

TEST(Scenarios, ChangeFromOneEpisodeToTheNextAndRepeat) {
  SumoEnv env({.scenario = "merge", .max_time_s = 200});
  const auto run = [&](const char* scenario) {
    env.set_scenario(scenario);
    for (env.reset(3); !env.done(); env.step()) {
    }
    return env.score();
  };
  const auto merge = run("merge");
  EXPECT_EQ(env.road().conflicts.size(), 1U);
  const auto corridor = run("corridor");
  EXPECT_EQ(env.road().conflicts.size(), 4U);
  EXPECT_NE(corridor.departed, merge.departed);
  const auto again = run("merge");
  EXPECT_EQ(again.departed, merge.departed);
  EXPECT_EQ(again.numerator(), merge.numerator());
  EXPECT_EQ(again.speed_sum, merge.speed_sum);
}

}  // namespace
}  // namespace traffic::sim
