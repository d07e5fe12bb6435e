#include "record_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "traffic/core/error.h"

namespace traffic::data_prep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

std::map<data::Split, int> count_splits(const RecordPlan& plan) {
  std::map<data::Split, int> counts;
  for (const auto& episode : plan.episodes) ++counts[episode.split];
  return counts;
}

RecordOptions options(std::int64_t episodes) {
  RecordOptions o;
  o.episodes = episodes;
  return o;
}

TEST(RecordPlan, EveryEpisodeHasASeedOfItsOwn) {
  auto o = options(40);
  o.seeds = "100";
  const auto plan = plan_recording(o, 2);
  std::set<std::uint64_t> seeds;
  for (const auto& episode : plan.episodes) seeds.insert(episode.seed);
  EXPECT_THAT(seeds, SizeIs(40));
  EXPECT_EQ(*seeds.begin(), 100U);
  EXPECT_EQ(*seeds.rbegin(), 139U);
}

TEST(RecordPlan, SplitsHaveTheirSharesAndAtLeastOneEpisode) {
  const auto forty = count_splits(plan_recording(options(40), 2));
  EXPECT_EQ(forty.at(data::Split::kTrain), 32);
  EXPECT_EQ(forty.at(data::Split::kValidation), 4);
  EXPECT_EQ(forty.at(data::Split::kTest), 4);
  const auto four = count_splits(plan_recording(options(4), 2));
  EXPECT_EQ(four.at(data::Split::kTrain), 2);
  EXPECT_EQ(four.at(data::Split::kValidation), 1);
  EXPECT_EQ(four.at(data::Split::kTest), 1);
  auto o = options(10);
  o.split = "0.9,0.1,0";
  EXPECT_EQ(count_splits(plan_recording(o, 1)).count(data::Split::kTest), 0U);
}

TEST(RecordPlan, ControllersAndDemandAreDealtOutEvenly) {
  auto o = options(24);
  o.control = "none:2,random:1,meter:1";
  o.demand_scales = {0.8, 1.0, 1.2};
  const auto plan = plan_recording(o, 2);
  EXPECT_THAT(plan.controllers, ElementsAre("none", "random", "meter"));
  std::map<int, int> controllers;
  std::map<double, int> demand;
  for (const auto& episode : plan.episodes) {
    ++controllers[episode.controller];
    ++demand[episode.demand_scale];
  }
  EXPECT_EQ(controllers, (std::map<int, int>{{0, 12}, {1, 6}, {2, 6}}));
  EXPECT_EQ(demand, (std::map<double, int>{{0.8, 8}, {1.0, 8}, {1.2, 8}}));
}

TEST(RecordPlan, TheSameOptionsGiveTheSamePlan) {
  const auto plan = plan_recording(options(30), 2);
  EXPECT_EQ(plan.episodes, plan_recording(options(30), 2).episodes);
  auto other = options(30);
  other.seeds = "500";
  const auto shifted = plan_recording(other, 2);
  const auto same_splits = [&] {
    for (std::size_t i = 0; i < 30; ++i) {
      if (plan.episodes[i].split != shifted.episodes[i].split) return false;
    }
    return true;
  };
  EXPECT_FALSE(same_splits());
}

TEST(RecordPlan, FilesCoverTheEpisodesAndAreAboutEquallyLong) {
  for (const std::int64_t episodes : {1, 2, 3, 16, 17, 40, 100}) {
    for (const std::int64_t jobs : {1, 2, 7}) {
      const auto plan = plan_recording(options(episodes), jobs);
      ASSERT_EQ(plan.file_begin.front(), 0U);
      ASSERT_EQ(plan.file_begin.back(), static_cast<std::size_t>(episodes));
      std::size_t smallest = 1000;
      std::size_t largest = 0;
      for (std::size_t f = 0; f < plan.num_files(); ++f) {
        const std::size_t size = plan.file_begin[f + 1] - plan.file_begin[f];
        smallest = std::min(smallest, size);
        largest = std::max(largest, size);
      }
      EXPECT_GE(smallest, 1U);
      EXPECT_LE(largest, 16U);
      EXPECT_LE(largest - smallest, 1U);
    }
  }
}

TEST(RecordPlan, ARangeOfSeedsSaysHowManyEpisodes) {
  RecordOptions o;
  o.seeds = "7..11";
  EXPECT_THAT(plan_recording(o, 1).episodes, SizeIs(5));
  o.episodes = 6;
  EXPECT_THAT([&] { static_cast<void>(plan_recording(o, 1)); },
              ThrowsMessage<ConfigError>(HasSubstr("has 5 seeds, but --episodes is 6")));
  EXPECT_THAT(plan_recording(RecordOptions{}, 1).episodes, SizeIs(40));
}

TEST(RecordPlan, TheErrorNamesAnInvalidOption) {
  const auto message = [](auto change) {
    auto o = options(4);
    change(o);
    try {
      static_cast<void>(plan_recording(o, 1));
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  for (const char* seeds : {"", "x", "5..", "9..3", "1..2..3", "-4"}) {
    EXPECT_THAT(message([&](auto& o) { o.seeds = seeds; }), HasSubstr("--seeds")) << seeds;
  }
  for (const char* split : {"", "1", "0.5,0.5", "0.8,0.1,0.2", "a,b,c", "1.2,-0.1,-0.1"}) {
    EXPECT_THAT(message([&](auto& o) { o.split = split; }), HasSubstr("--split")) << split;
  }
  for (const char* control : {"", "nobody", "none:0", "none:x", "none,,random"}) {
    EXPECT_THAT(message([&](auto& o) { o.control = control; }), HasSubstr("--control")) << control;
  }
  EXPECT_THAT(message([](auto& o) { o.demand_scales = {0.0}; }), HasSubstr("--demand-scale"));
  EXPECT_THAT(message([](auto& o) { o.episodes = -1; }), HasSubstr("--episodes"));
}

}  // namespace
}  // namespace traffic::data_prep
