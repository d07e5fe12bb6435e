#include "train/search/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace traffic::train {
namespace {

using ::testing::ElementsAre;

ScenarioSearch found(const std::string& controller, double gain, double controlled_s) {
  const TriedScript script{.controller = controller,
                           .seeds = 12,
                           .gain = gain,
                           .half_width = 1.0,
                           .controlled_s = controlled_s};
  return {.scenario = "here",
          .tried = {script},
          .finalists = {script},
          .best = gain > 1.0 ? controller : "none"};
}

SearchResult result_of(std::vector<ScenarioSearch> scenarios) {
  return {.key = "k",
          .objective = "ocr",
          .episodes = 10,
          .seconds = 10,
          .episode_s = 1.0,
          .scenarios = std::move(scenarios)};
}

config::Config asked() {
  config::Config config;
  config.env.objective = "auto";
  config.search.minutes = 3;
  config.search.training_minutes = 20;
  config.episodes.rollout_fragment_length = 0;
  return config;
}

TEST(Decide, AYieldingScriptSetsItsZoneLeadCommitmentAndCommand) {
  config::Config config = asked();
  decide(result_of({found("yield(lead_s=12, to_m=200, top=30)", 20.0, 10000)}),
         {{.duration_s = 3600, .step_length_s = 1}}, config);
  EXPECT_EQ(config.env.objective, "ocr");
  EXPECT_EQ(config.env.zone_m, 200);
  EXPECT_EQ(config.env.lead_s, 24) << "the policy may begin earlier than the script";
  EXPECT_TRUE(config.env.lead_only);
  EXPECT_EQ(config.env.commit_s, 30);
  EXPECT_THAT(config.vehicles.commands, ElementsAre("none", "arrive_late"));
  EXPECT_EQ(config.vehicles.top_k, 30);
  EXPECT_EQ(config.vehicles.advisor, "yield(lead_s=12, to_m=200, top=30)");
  EXPECT_EQ(config.imitation.iterations, 0);
  EXPECT_THAT(config.evaluation.controllers,
              ElementsAre("none", "yield(lead_s=12, to_m=200, top=30)"));
  // Whole episodes of an hour, with a decision every five seconds.
  EXPECT_EQ(config.episodes.length_s, 0);
  EXPECT_EQ(config.episodes.train_batch_size, 8 * 720);
}

TEST(Decide, FragmentsKeepTheirBatchSizeAndGetFittingIterations) {
  config::Config config = asked();
  config.episodes.rollout_fragment_length = 30;
  config.episodes.train_batch_size = 450;  // one and a half episodes
  const SearchResult result = result_of({found("meter", 5.0, 300)});
  decide(result, {{.duration_s = 900}}, config);
  EXPECT_EQ(config.episodes.train_batch_size, 450);
  EXPECT_EQ(config.episodes.length_s, 0);
  // Iterations take 0.65 of the twenty minutes, at two seconds an episode.
  EXPECT_EQ(config.training.iterations, static_cast<std::int64_t>(0.65 * 1200.0 / (2.0 * 1.5)));
}

TEST(Decide, AScriptThatStopsVehiclesSetsZoneNumberAndCommand) {
  config::Config config = asked();
  config.vehicles.commands = {"none"};
  decide(result_of({found("let_in(queue=10, to_m=60, top=50)", 8.0, 800)}), {{.duration_s = 900}},
         config);
  EXPECT_EQ(config.env.zone_m, 100);
  EXPECT_EQ(config.vehicles.top_k, 50);
  EXPECT_THAT(config.vehicles.commands, ElementsAre("none", "stop"));
  config = asked();
  decide(result_of({found("meter(before=1, from_m=250, to_m=500, top=50)", 4.0, 500)}),
         {{.duration_s = 900}}, config);
  EXPECT_EQ(config.env.zone_m, 500);
  config = asked();
  config.vehicles.commands = {"none"};
  decide(result_of({found("sort(to_m=250, top=50)", 4.0, 100)}), {{.duration_s = 900}}, config);
  EXPECT_EQ(config.env.zone_m, 250);
  EXPECT_THAT(config.vehicles.commands, ElementsAre("none", "left", "right"));
  config = asked();
  config.vehicles.commands = {"none"};
  decide(result_of({found("vsl(density=30, speed_mps=6, top=50)", 2.0, 500)}),
         {{.duration_s = 900}}, config);
  EXPECT_EQ(config.env.zone_m, 250);
  EXPECT_EQ(config.env.slow_mps, 6);
  EXPECT_THAT(config.vehicles.commands, ElementsAre("none", "slow"));
}

TEST(Decide, CommandingLikeTheScriptCostsATwentiethOfItsGain) {
  config::Config config = asked();
  decide(result_of({found("brisk(to_m=100, top=50)", 2.0, 100000)}), {{.duration_s = 900}}, config);
  EXPECT_DOUBLE_EQ(config.episodes.intervention_cost, 0.05 * 2.0 / 100000);
  EXPECT_TRUE(config.env.behind);
  config = asked();
  const double cost = config.episodes.intervention_cost;
  decide(result_of({found("meter(density=25)", 5.0, 300)}), {{.duration_s = 900}}, config);
  // The configured cost is low enough, so it stays.
  EXPECT_DOUBLE_EQ(config.episodes.intervention_cost, cost);
}

TEST(Decide, IfNoScriptHelpsNothingIsImitatedAndCommandsStay) {
  config::Config config = asked();
  config.imitation.iterations = 6;
  const auto commands = config.vehicles.commands;
  decide(result_of({found("meter", 0.5, 300)}), {{.duration_s = 900, .speed_limit_mps = 22.2}},
         config);
  EXPECT_DOUBLE_EQ(config.env.slow_mps, 11.1);
  EXPECT_EQ(config.imitation.iterations, 0);
  EXPECT_EQ(config.vehicles.commands, commands);
  EXPECT_EQ(config.env.zone_m, config::Env{}.zone_m);
  EXPECT_EQ(config.vehicles.advisor, "none")
      << "without a helpful script PPO must begin with no control";
  EXPECT_DOUBLE_EQ(config.vehicles.advice_probability, 0.8);
  EXPECT_THAT(config.evaluation.controllers, ElementsAre("none"));
  EXPECT_EQ(config.episodes.train_batch_size, 16 * 300);
  config = asked();
  decide(result_of({found("meter", 0.5, 300)}), {{.duration_s = 3600}}, config);
  EXPECT_EQ(config.episodes.length_s, 600) << "an hour must be divided into shorter episodes";
  EXPECT_EQ(config.episodes.train_batch_size, 16 * 200);
  config = asked();
  config.env.agents = {"vehicles", "lights"};
  decide(result_of({found("meter", 0.5, 300)}), {{.duration_s = 3600}}, config);
  EXPECT_EQ(config.episodes.length_s, 0) << "lights that begin as a script learn in whole episodes";
}

TEST(Decide, KeysOutsideSearchDecidesStay) {
  config::Config config = asked();
  std::erase(config.search.decides, "env.zone_m");
  std::erase(config.search.decides, "vehicles.top_k");
  config.env.zone_m = 77;
  decide(result_of({found("meter(density=25, to_m=60, top=3)", 5.0, 300)}), {{.duration_s = 900}},
         config);
  EXPECT_EQ(config.env.zone_m, 77);
  EXPECT_EQ(config.vehicles.top_k, config::Vehicles{}.top_k);
}

TEST(Decide, AScriptIsImitatedIfTheSearchMayNotSetTheAdvisor) {
  config::Config config = asked();
  std::erase(config.search.decides, "vehicles.advisor");
  decide(result_of({found("meter(density=25, to_m=60, top=3)", 5.0, 300)}), {{.duration_s = 900}},
         config);
  EXPECT_EQ(config.vehicles.advisor, "");
  EXPECT_THAT(config.imitation.controllers, ElementsAre("meter(density=25, to_m=60, top=3)"));
  EXPECT_GT(config.imitation.iterations, 0);
  EXPECT_THAT(config.vehicles.commands, ElementsAre("none", "stop", "fast"));
}

TEST(Decide, BesideAnAdvisorAboutTwoVehiclesTryOtherCommands) {
  config::Config config = asked();
  config.vehicles.commands = {"none", "stop", "slow"};
  ScenarioSearch search = found("brisk(to_m=100, top=200)", 17.0, 90000);
  search.tried.push_back({.controller = "glide(top=200)", .gain = 15.0, .half_width = 1.0});
  search.tried.push_back({.controller = "yield", .gain = 0.5, .half_width = 1.0});
  decide(result_of({search}), {{.duration_s = 900}}, config);
  EXPECT_EQ(config.vehicles.advisor, "brisk(to_m=100, top=200)");
  EXPECT_THAT(config.vehicles.commands,
              ElementsAre("none", "fast", "arrive_green", "stop", "slow"));
  EXPECT_NEAR(config.vehicles.advice_probability, 1.0 - 2.0 / 100.0, 1e-9);
  config = asked();
  decide(result_of({found("meter", 5.0, 300)}), {{.duration_s = 900}}, config);
  EXPECT_NEAR(config.vehicles.advice_probability, 0.9, 1e-9)
      << "at most one of ten vehicles may deviate from the advice";
}

TEST(Decide, SeveralScenariosAreImitatedWithSettingsForAll) {
  config::Config config = asked();
  config.env.scenarios = {"merge", "corridor", "town"};
  decide(result_of({found("meter(density=25)", 5.0, 300), found("yield(top=10)", 15.0, 9000),
                    found("brisk", 0.1, 9000)}),
         {{.duration_s = 900}, {.duration_s = 3600}, {.duration_s = 900, .step_length_s = 2.0}},
         config);
  EXPECT_THAT(config.imitation.controllers,
              ElementsAre("meter(density=25)", "yield(top=10)", "none"));
  EXPECT_THAT(config.vehicles.commands, ElementsAre("none", "stop", "fast", "arrive_late"));
  EXPECT_EQ(config.vehicles.advisor, "")
      << "no advisor, because each script suits only one network";
  EXPECT_FALSE(config.env.lead_only);
  EXPECT_EQ(config.env.zone_m, 200);
  // The shortest period, three seconds, is not a whole number of steps of two seconds.
  EXPECT_EQ(config.env.control_period_s, 4.0);
  EXPECT_GT(config.imitation.iterations, 3 * 4);  // longer than for three single scripts
}

TEST(Decide, TheTrainingFitsItsMinutes) {
  config::Config config = asked();
  SearchResult slow = result_of({found("meter(density=25)", 5.0, 300)});
  decide(slow, {{.duration_s = 900}}, config);
  const auto iterations = config.training.iterations;
  slow.episode_s = 10.0;
  config = asked();
  decide(slow, {{.duration_s = 900}}, config);
  EXPECT_LT(config.training.iterations, iterations);
  EXPECT_GT(config.training.iterations, config.imitation.iterations);
  EXPECT_LT(config.episodes.baseline_episodes, 64);
  config = asked();
  config.search.training_minutes = 0;
  decide(slow, {{.duration_s = 900}}, config);
  EXPECT_EQ(config.training.iterations, config::Training{}.iterations);
}

TEST(Decide, OnSlowNetworksTheBatchShrinksAndTheClockEndsTheTraining) {
  // An episode takes 15 s, so that 80 episodes fit into the 20 minutes of the training.
  config::Config config = asked();
  SearchResult slow = result_of({found("meter(density=25)", 5.0, 300)});
  slow.episode_s = 15.0;
  decide(slow, {{.duration_s = 900}}, config);
  EXPECT_EQ(config.episodes.train_batch_size, 4 * 300)
      << "the batch must shrink to a quarter of the usual sixteen episodes";
  const double episodes = static_cast<double>(config.episodes.baseline_episodes) +
                          3.0 * static_cast<double>(config.training.final_episodes) +
                          2.0 * static_cast<double>(config.training.eval_episodes) *
                              std::ceil(static_cast<double>(config.training.iterations) /
                                        static_cast<double>(config.training.eval_interval)) +
                          1.6 * 4.0 * static_cast<double>(config.training.iterations);
  EXPECT_LE(15.0 * episodes, 1.2 * 20.0 * 60.0);
  EXPECT_GT(config.training.minutes, 10.0);
  EXPECT_LT(config.training.minutes, 20.0);
  EXPECT_EQ(config.episodes.length_s, 0);

  // If even a small batch leaves time for only few iterations, long episodes are divided.
  config = asked();
  slow.episode_s = 60.0;
  decide(slow, {{.duration_s = 3600}}, config);
  EXPECT_EQ(config.episodes.length_s, 600);
}

TEST(Decide, AGentleScriptMakesTheEnvironmentGentle) {
  config::Config config = asked();
  decide(result_of({found("meter(brake_mps2=1, density=25)", 5.0, 300)}), {{.duration_s = 900}},
         config);
  EXPECT_EQ(config.env.max_slowdown_mps2, 1.0);
}

TEST(SearchResult, IsReadAsItWasWritten) {
  const SearchResult written =
      result_of({found("meter(density=25)", 5.0, 300), found("brisk", 0.1, 9000)});
  const SearchResult read = search_result_from(to_json(written));
  EXPECT_EQ(to_json(read), to_json(written));
  ASSERT_NE(read.scenarios[0].found(), nullptr);
  EXPECT_EQ(read.scenarios[0].found()->gain, 5.0);
  EXPECT_EQ(read.scenarios[1].found(), nullptr);
  EXPECT_ANY_THROW(search_result_from({{"key", "k"}}));
}

TEST(SearchResult, AnUnsafeScriptThatGainsMoreIsWorthASaferVersion) {
  ScenarioSearch search = found("meter(density=25)", 5.0, 300);
  EXPECT_EQ(search.unsafe_but_better(), nullptr) << "all scripts are safe";
  search.tried.push_back(
      {.controller = "yield", .gain = 13.3, .half_width = 0.4, .safety_excess = 3.5});
  ASSERT_NE(search.unsafe_but_better(), nullptr);
  EXPECT_EQ(search.unsafe_but_better()->controller, "yield");
  search.tried.back().gain = 5.2;
  EXPECT_EQ(search.unsafe_but_better(), nullptr)
      << "a gain of 5.2 % is not clearly higher than 5 %";
  search.best = "none";
  EXPECT_NE(search.unsafe_but_better(), nullptr) << "no safe script gains anything";
}

TEST(SearchResult, ItsTextNamesTheScriptOrSaysThatNoneHelps) {
  const SearchResult result =
      result_of({found("meter(density=25)", 5.0, 300), found("brisk", 0.1, 9000)});
  EXPECT_THAT(search_text(result, result.scenarios[0]),
              ::testing::HasSubstr("meter(density=25) gains +5.00 +- 1.00 % of ocr_all"));
  EXPECT_THAT(
      search_text(result, result.scenarios[1]),
      ::testing::HasSubstr("no script has a gain in ocr_all whose 95 % interval lies above 0"));
}

TEST(SearchResult, ItsTextAndItsJsonSayWhichPartOfEpisodesWasCompared) {
  SearchResult result = result_of({found("meter(density=25)", 5.0, 300)});
  EXPECT_TRUE(result.scenarios[0].is_whole());
  result.scenarios[0].piece_s = 600;
  result.scenarios[0].pieces = 4;
  result.scenarios[0].episode_s = 3600;
  EXPECT_THAT(search_text(result, result.scenarios[0]),
              ::testing::HasSubstr(
                  "compared in 4 pieces of 600 s from the first 2400 of 3600 s of episodes"));
  const SearchResult read = search_result_from(to_json(result));
  EXPECT_EQ(read.scenarios[0].piece_s, 600);
  EXPECT_EQ(read.scenarios[0].pieces, 4);
  EXPECT_EQ(read.scenarios[0].episode_s, 3600);
  EXPECT_FALSE(read.scenarios[0].is_whole());
}

TEST(Decide, CommandsOfAPartOfAnEpisodeCountForTheWholeEpisode) {
  const std::string script = "meter(density=25)";
  const auto decided = [&](double controlled_s, double piece_s) {
    ScenarioSearch search = found(script, 20.0, controlled_s);
    search.piece_s = piece_s;
    search.episode_s = 3600;
    config::Config config = asked();
    decide(result_of({search}), {{.duration_s = 3600, .step_length_s = 1}}, config);
    return config;
  };
  const config::Config whole = decided(60'000, 0);
  const config::Config part = decided(10'000, 600);
  EXPECT_DOUBLE_EQ(part.vehicles.advice_probability, whole.vehicles.advice_probability);
  EXPECT_DOUBLE_EQ(part.episodes.intervention_cost, whole.episodes.intervention_cost);
}

/// The settings after a search for lights with this best script.
config::Config decided_for_lights(const std::string& best, double gain) {
  config::Config config = asked();
  config.env.agents = {"lights"};
  config.env.control_period_s = 3.0;
  decide(result_of({found(best, gain, 0)}), {{.duration_s = 3600, .step_length_s = 1}}, config);
  return config;
}

TEST(Decide, LightsBeginAsTheBestScriptThatKeepsTheirPrograms) {
  const config::Config config = decided_for_lights("retime(period_s=1, weight=3)", 20.0);
  EXPECT_EQ(config.lights.advisor, "retime(period_s=1, weight=3)");
  EXPECT_EQ(config.env.control_period_s, 1.0);
  EXPECT_NEAR(std::pow(config.lights.ppo.gamma, 5.0), 0.95, 1e-9)
      << "the discount per second must not change";
  EXPECT_THAT(config.evaluation.controllers, ElementsAre("none", "retime(period_s=1, weight=3)"));
  EXPECT_EQ(config.episodes.length_s, 0.0)
      << "lights that begin as a script learn in whole episodes";
}

TEST(Decide, LightsAreTakenOverWhereSuchAScriptIsBest) {
  const config::Config config = decided_for_lights("max_pressure", 20.0);
  EXPECT_EQ(config.lights.advisor, "greedy");
  EXPECT_EQ(config.env.control_period_s, 5.0);
}

TEST(Decide, LightsBeginAsTheirProgramsWhereNoScriptHelps) {
  const config::Config config = decided_for_lights("greedy", 0.1);
  EXPECT_EQ(config.lights.advisor, "program");
  EXPECT_EQ(config.episodes.length_s, 600.0) << "an hour must be divided into shorter episodes";
}

}  // namespace
}  // namespace traffic::train
