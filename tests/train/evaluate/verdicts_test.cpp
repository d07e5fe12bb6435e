/// Tests of the verdicts on evaluated controllers: which controller is best, which ones are not
/// safe, and which ones commanded nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "traffic/train/evaluate/evaluation.h"

namespace traffic::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::int64_t kDemand = 100;

/// Metrics of a controller. Each list has one entry per seed. `interventions` is the number with
/// every seed.
struct ControllerRuns {
  std::string name;
  std::vector<std::int64_t> arrived;
  std::vector<std::int64_t> emergency_stops;
  std::vector<std::int64_t> hard_brakes;
  std::int64_t interventions = 1;
};

struct Evaluated {
  EvaluationPlan plan;
  std::vector<EvaluatedEpisode> episodes;
};

Evaluated evaluated(const std::vector<ControllerRuns>& all) {
  Evaluated result;
  for (std::size_t s = 0; s < all.front().arrived.size(); ++s) result.plan.seeds.push_back(s);
  for (std::size_t c = 0; c < all.size(); ++c) {
    result.plan.controllers.push_back(all[c].name);
    for (const std::uint64_t seed : result.plan.seeds) {
      EvaluatedEpisode episode{.controller = c, .seed = seed};
      episode.score.departed = kDemand;
      episode.score.arrived = all[c].arrived[seed];
      episode.score.emergency_stops = all[c].emergency_stops[seed];
      episode.score.hard_brakes = all[c].hard_brakes[seed];
      episode.score.interventions = all[c].interventions;
      result.episodes.push_back(episode);
    }
  }
  return result;
}

const ControllerRuns kNone{"none", {50, 52, 51, 49}, {0, 1, 0, 0}, {10, 12, 9, 11}, 0};

TEST(Verdicts, TheSafeControllerWithTheHighestGainIsBest) {
  const auto [plan, episodes] =
      evaluated({kNone,
                 {"meter", {55, 56, 57, 55}, {0, 1, 0, 1}, {10, 11, 9, 11}},
                 {"yield", {60, 61, 62, 60}, {3, 5, 4, 4}, {10, 11, 9, 11}}});
  const auto verdicts = judge_controllers(plan, episodes);
  EXPECT_FALSE(verdicts[0].best);
  EXPECT_TRUE(verdicts[1].safe()) << "one more emergency stop in one of four runs may be chance";
  EXPECT_TRUE(verdicts[1].best);
  EXPECT_FALSE(verdicts[2].safe());
  EXPECT_FALSE(verdicts[2].best);
  EXPECT_THAT(verdict_text(plan, episodes),
              AllOf(HasSubstr("best: meter, +10.4"),
                    HasSubstr("yield is not safe: 3.75 +- 0.80 more emergency stops a run")));
  const auto json = nlohmann::json::parse(evaluation_json(plan, episodes));
  EXPECT_EQ(json["controllers"][1]["best"], true);
  EXPECT_EQ(json["controllers"][2]["safe"], false);
}

TEST(Verdicts, AControllerThatIsNotClearlyWorseIsLevelWithTheBest) {
  const std::vector<std::int64_t> none(4, 0);
  const auto [plan, episodes] = evaluated({kNone,
                                           {"meter", {60, 61, 62, 60}, none, none},
                                           {"glide", {61, 61, 60, 60}, none, none},
                                           {"yield", {55, 56, 57, 55}, none, none}});
  const auto verdicts = judge_controllers(plan, episodes);
  EXPECT_TRUE(verdicts[1].best);
  EXPECT_FALSE(verdicts[1].level.has_value());
  ASSERT_TRUE(verdicts[2].level.has_value());
  EXPECT_LT(verdicts[2].level->mean, 0.0);
  EXPECT_GT(verdicts[2].level->high(), 0.0);
  EXPECT_FALSE(verdicts[3].level.has_value());
  EXPECT_THAT(
      verdict_text(plan, episodes),
      AllOf(HasSubstr("\nglide is level with the best: its gain differs by -0.48 +- "),
            // The half-width is 3.95 with four seeds; 4 * 3.95^2 = 62.4 seeds would make it 1.
            HasSubstr(" points; about 63 seeds would narrow the interval to +-1\n"),
            Not(HasSubstr("yield is level"))));
  const auto json = nlohmann::json::parse(evaluation_json(plan, episodes));
  EXPECT_EQ(json["controllers"][2]["level_with_best"], true);
  EXPECT_EQ(json["controllers"][3]["level_with_best"], false);
}

TEST(Verdicts, AWideIntervalIsNotCalledLevel) {
  const std::vector<std::int64_t> none(4, 0);
  const auto [plan, episodes] = evaluated(
      {kNone, {"meter", {55, 56, 57, 55}, none, none}, {"glide", {70, 30, 70, 40}, none, none}});
  const auto verdicts = judge_controllers(plan, episodes);
  EXPECT_TRUE(verdicts[1].best);
  EXPECT_TRUE(verdicts[2].undecided);
  EXPECT_THAT(verdict_text(plan, episodes),
              HasSubstr("\nglide cannot yet be told apart from the best: its gain differs by "));
  const auto json = nlohmann::json::parse(evaluation_json(plan, episodes));
  EXPECT_EQ(json["controllers"][2]["level_with_best"], false);
}

TEST(Verdicts, AControllerThatJamsMoreRunsIsReportedFirstAndNotRecommended) {
  const std::vector<std::int64_t> none(4, 0);
  auto [plan, episodes] = evaluated(
      {kNone, {"meter", {55, 56, 57, 55}, none, none}, {"greedy", {80, 81, 82, 10}, none, none}});
  episodes.back().jammed = true;  // the run of greedy with the last seed
  const auto verdicts = judge_controllers(plan, episodes);
  EXPECT_EQ(verdicts[2].jammed_runs, 1);
  EXPECT_TRUE(verdicts[2].jams);
  EXPECT_FALSE(verdicts[2].level.has_value());
  EXPECT_TRUE(verdicts[1].best);
  EXPECT_THAT(verdict_text(plan, episodes), StartsWith("greedy jams in 1 of 4 runs"));
}

TEST(Verdicts, MoreHardBrakesAreReportedButAreNotUnsafe) {
  const auto [plan, episodes] =
      evaluated({kNone, {"yield", {60, 61, 62, 60}, {0, 1, 0, 0}, {30, 33, 29, 30}}});
  const auto verdicts = judge_controllers(plan, episodes);
  EXPECT_TRUE(verdicts[1].safe());
  EXPECT_TRUE(verdicts[1].best);
  EXPECT_THAT(
      verdict_text(plan, episodes),
      AllOf(HasSubstr("more hard brakes a run than without control"), Not(HasSubstr("not safe"))));
}

TEST(Verdicts, NoneIsBestIfNoSafeControllerGains) {
  const auto [plan, episodes] =
      evaluated({kNone, {"meter", {45, 46, 47, 45}, {0, 1, 0, 0}, {10, 11, 9, 11}}});
  EXPECT_TRUE(judge_controllers(plan, episodes)[0].best);
  EXPECT_THAT(verdict_text(plan, episodes), HasSubstr("best: none"));
}

TEST(Verdicts, ASingleSeedGivesNoIntervalAndNoUnsafeController) {
  const auto [plan, episodes] =
      evaluated({{"none", {50}, {0}, {10}, 0}, {"meter", {55}, {4}, {10}}});
  EXPECT_TRUE(judge_controllers(plan, episodes)[1].safe());
  const std::string text = verdict_text(plan, episodes);
  EXPECT_THAT(text, AllOf(HasSubstr("best: meter, +10.00 % of ocr_all; one seed gives no interval"),
                          Not(HasSubstr("inf"))));
  EXPECT_THAT(overview_table(plan, episodes).to_text(), Not(HasSubstr("inf")));
}

TEST(Verdicts, AControllerThatCommandedNothingIsNamed) {
  const auto [plan, episodes] =
      evaluated({kNone, {"meter", {50, 52, 51, 49}, {0, 1, 0, 0}, {10, 12, 9, 11}, 0}});
  EXPECT_THAT(
      verdict_text(plan, episodes),
      AllOf(HasSubstr("meter commanded no vehicle in any run"), Not(HasSubstr("none commanded"))));
}

TEST(Verdicts, AnOverviewTableWithLongNamesFitsATerminal) {
  const auto [plan, episodes] = evaluated(
      {{"none", {500000, 520000}, {0, 1}, {1000, 1200}, 0},
       {"checkpoint:runs/with/a/long/path/to/the/checkpoints/best.h5", {55, 56}, {0, 1}, {9, 8}}});
  const std::string text = overview_table(plan, episodes).to_text();
  std::size_t start = 0;
  for (std::size_t end = 0; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
    EXPECT_LE(end - start, 120U) << text;
  }
  EXPECT_THAT(text, HasSubstr(".../to/the/checkpoints/best.h5"));
}

}  // namespace
}  // namespace traffic::train
