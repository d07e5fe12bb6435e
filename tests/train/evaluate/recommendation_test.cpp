/// Tests of the recommendations of traffic_doctor --controller: the results of a trial decide
/// whether a controller should be used.
#include "evaluate/recommendation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace traffic::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// The runs of a controller in a trial: how many of 100 vehicles arrive with each seed, and how
/// many collisions happen with every seed.
struct Runs {
  std::string name;
  std::vector<std::int64_t> arrived;
  std::int64_t collisions = 0;
  std::int64_t interventions = 1;
};

Trial trial_of(const std::vector<Runs>& all) {
  Trial trial{.horizon_s = 600, .is_whole = true, .whole_seed_s = 10.0};
  for (std::size_t s = 0; s < all.front().arrived.size(); ++s) trial.plan.seeds.push_back(s);
  for (const Runs& runs : all) {
    for (std::size_t s = 0; s < runs.arrived.size(); ++s) {
      EvaluatedEpisode episode{.controller = trial.plan.controllers.size(), .seed = s};
      episode.score.departed = 100;
      episode.score.arrived = runs.arrived[s];
      episode.score.collisions = runs.collisions;
      episode.score.interventions = runs.interventions;
      trial.episodes.push_back(episode);
    }
    trial.plan.controllers.push_back(runs.name);
  }
  return trial;
}

const Runs kNoControl{"none", {50, 50, 50, 50}, 0, 0};
const Runs kMeter{"meter", {55, 56, 57, 55}};

TEST(Recommendation, AControllerThatHelpsIsUsed) {
  const Trial trial = trial_of({kNoControl, kMeter});
  const Recommendation result = recommend(trial, 1.0);
  EXPECT_EQ(result.use, 1U);
  EXPECT_TRUE(result.is_decided);
  EXPECT_EQ(result.needed_minutes, 0.0);
  EXPECT_THAT(result.text, StartsWith("use meter: it raises the share of the demand that gets "
                                      "through by 11.50 +- "));
}

TEST(Recommendation, AScriptReplacesATrainedControllerOnlyIfItIsClearlyBetter) {
  const Runs trained{"checkpoint:best.h5", {53, 53, 53, 53}};
  EXPECT_EQ(recommend(trial_of({kNoControl, trained, kMeter}), 1.0).use, 2U);
  const Runs level{"checkpoint:best.h5", {54, 56, 55, 57}};
  const Recommendation result = recommend(trial_of({kNoControl, kMeter, level}), 1.0);
  EXPECT_EQ(result.use, 2U);
  EXPECT_THAT(result.text, HasSubstr("; meter also helps, its gain differs by +0.50 +- "));
}

TEST(Recommendation, AHarmfulControllerIsLeftOut) {
  const Recommendation worse = recommend(trial_of({kNoControl, {"random", {40, 41, 42, 41}}}), 1.0);
  EXPECT_FALSE(worse.use.has_value());
  EXPECT_TRUE(worse.is_decided);
  EXPECT_THAT(worse.text, StartsWith("leave the traffic as it is: random reduces the share of the "
                                     "demand that gets through by 18.00 +- "));
  const Recommendation both =
      recommend(trial_of({kNoControl, kMeter, {"random", {40, 41, 42, 41}}}), 1.0);
  EXPECT_EQ(both.use, 1U);
  EXPECT_THAT(both.text, HasSubstr("; random reduces the share"));
}

TEST(Recommendation, AGainAtThePriceOfCollisionsIsNotRecommended) {
  const Recommendation result =
      recommend(trial_of({kNoControl, {"meter", {60, 61, 62, 60}, 2}}), 1.0);
  EXPECT_FALSE(result.use.has_value());
  EXPECT_TRUE(result.is_decided);
  EXPECT_THAT(result.text,
              HasSubstr("meter is not safe: it causes 2.00 +- 0.00 more collisions a run"));
}

TEST(Recommendation, AControllerThatJamsIsNotRecommended) {
  Trial trial = trial_of({kNoControl, kMeter});
  trial.episodes.back().jammed = true;
  EXPECT_THAT(recommend(trial, 1.0).text,
              HasSubstr("meter jams in 1 of 4 runs, and no control in 0"));
}

TEST(Recommendation, AControllerWithoutEffectIsLeftOut) {
  EXPECT_THAT(recommend(trial_of({kNoControl, {"vsl", {50, 50, 50, 50}}}), 1.0).text,
              HasSubstr("vsl has no effect that matters"));
  EXPECT_THAT(recommend(trial_of({kNoControl, {"vsl", {50, 50, 50, 50}, 0, 0}}), 1.0).text,
              HasSubstr("vsl commanded nothing"));
}

TEST(Recommendation, AWideIntervalAsksForMoreTime) {
  const Recommendation result = recommend(trial_of({kNoControl, {"meter", {40, 60, 52, 56}}}), 1.0);
  EXPECT_FALSE(result.use.has_value());
  EXPECT_FALSE(result.is_decided);
  // The gains have a mean of 4 % and a standard deviation of 17.3 %. The half-width of the
  // interval, t * 17.3 / sqrt(n), falls to 4 near n = 74 seeds. They take 10 s each, and a fifth is
  // in reserve.
  EXPECT_NEAR(result.needed_minutes, 15.0, 1.0);
  EXPECT_THAT(result.text,
              AllOf(StartsWith("too early to say whether meter helps: "),
                    HasSubstr("which may be chance"), HasSubstr("would be enough (--minutes ")));
}

TEST(Recommendation, TooFewSeedsAskForMoreTime) {
  const Recommendation one = recommend(trial_of({{"none", {50}}, {"meter", {60}}}), 1.0);
  EXPECT_FALSE(one.is_decided);
  EXPECT_THAT(one.text, HasSubstr("on one seed, which gives no interval"));
  const Recommendation nothing = recommend(trial_of({{"none", {}}, {"meter", {}}}), 1.0);
  EXPECT_FALSE(nothing.is_decided);
  EXPECT_THAT(nothing.text, HasSubstr("no seed was simulated far enough"));
  EXPECT_GT(nothing.needed_minutes, 1.0);
}

TEST(Recommendation, GainsThatShowNoLaterJamDecideNothing) {
  Trial trial = trial_of({kNoControl, kMeter});
  trial.is_whole = false;
  trial.full_s = 600.0;
  EXPECT_TRUE(recommend(trial, 1.0).is_decided);
  trial.full_s = 540.0;
  EXPECT_THAT(recommend(trial, 1.0).text,
              HasSubstr("the episodes were cut after 600 s, so that a later jam would not show"));
  // Collisions count even if the trial has compared only the first part of the episodes.
  Trial unsafe = trial_of({kNoControl, {"meter", {60, 61, 62, 60}, 2}});
  unsafe.is_whole = false;
  EXPECT_THAT(recommend(unsafe, 1.0).text, HasSubstr("meter is not safe"));
}

}  // namespace
}  // namespace traffic::train
