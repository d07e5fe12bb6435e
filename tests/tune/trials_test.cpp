#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "traffic/tune/study.h"

namespace traffic::tune {
namespace {

using ::testing::ElementsAre;

Choice list_of(const char* key, std::vector<std::string> values) {
  Choice choice;
  choice.key = key;
  choice.values = std::move(values);
  return choice;
}

Choice range_of(double low, double high, bool logarithmic, bool whole) {
  Choice choice;
  choice.key = "range";
  choice.low = low;
  choice.high = high;
  choice.logarithmic = logarithmic;
  choice.whole = whole;
  return choice;
}

TEST(Trials, AGridHasEveryCombinationOnce) {
  Table table;
  table.grid = true;
  table.choices = {list_of("a", {"1", "2"}), list_of("b", {"x", "y", "z"})};
  const auto trials = draw_trials(table);
  std::set<std::vector<std::string>> different;
  for (const Trial& trial : trials) different.insert(trial.values);
  EXPECT_EQ(trials.size(), 6U);
  EXPECT_EQ(different.size(), 6U);
  EXPECT_THAT(trials[4].values, ElementsAre("2", "y"));
  EXPECT_EQ(trials[4].number, 4);
}

TEST(Trials, RandomTrialsFollowFromTheSeedAndStayInTheirRanges) {
  Table table;
  table.trials = 400;
  table.choices = {list_of("a", {"x", "y"}), range_of(1e-4, 1e-2, true, false),
                   range_of(2, 5, false, true), range_of(-1, 1, false, false)};
  const auto trials = draw_trials(table);
  int low = 0;
  std::set<std::string> whole;
  for (const Trial& trial : trials) {
    const double rate = std::stod(trial.values[1]);
    EXPECT_GE(rate, 0.9999e-4);
    EXPECT_LE(rate, 1.0001e-2);
    low += rate < 1e-3 ? 1 : 0;
    whole.insert(trial.values[2]);
    EXPECT_LE(std::abs(std::stod(trial.values[3])), 1.0);
  }
  // The range spans two orders of magnitude. The expected number of the 400 draws in the lower one
  // is 200, with a standard deviation of 10.
  EXPECT_NEAR(low, 200, 50);
  EXPECT_THAT(whole, ElementsAre("2", "3", "4", "5"));
  Table fewer = table;
  fewer.trials = 5;
  const auto first = draw_trials(fewer);
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].values, trials[i].values);
  table.seed = 2;
  EXPECT_NE(draw_trials(table)[0].values, trials[0].values);
}

}  // namespace
}  // namespace traffic::tune
