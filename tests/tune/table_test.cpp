#include "traffic/tune/table.h"

#include <gmock/gmock.h>

#include <fstream>

#include "support/run_folder_test.h"
#include "traffic/core/error.h"

namespace traffic::tune {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TableTest : public test::RunFolderTest {
 protected:
  [[nodiscard]] Table read(const std::string& text) const {
    std::ofstream(dir_ / "mine.toml") << text;
    return read_table(dir_ / "mine.toml");
  }
  [[nodiscard]] std::string error_of(const std::string& text) const {
    try {
      (void)read(text);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no error";
  }
};

TEST_F(TableTest, ReadsListsAndRanges) {
  const Table table = read(R"(
config = "a.toml"
search = "random"
trials = 3
budgets = [2, 4]
goal = "smallest"
set = ["env.zone_m=50"]
[keys]
ppo.learning_rate = "1e-4 .. 1e-2 log"
ppo.num_epochs = "3 .. 10"
vehicles.inputs = [["features", "globals"], ["features"]]
run.device = ["cpu"]
ppo.ent_coef = [0.001, 1]
)");
  EXPECT_EQ(table.dir, "runs/tune-mine");
  EXPECT_FALSE(table.grid);
  EXPECT_FALSE(table.largest);
  EXPECT_THAT(table.budgets, ElementsAre(2, 4));
  EXPECT_THAT(table.set, ElementsAre("env.zone_m=50"));
  ASSERT_EQ(table.choices.size(), 5U);
  EXPECT_EQ(table.choices[0].key, "ppo.learning_rate");
  EXPECT_TRUE(table.choices[0].logarithmic);
  EXPECT_FALSE(table.choices[0].whole);
  EXPECT_DOUBLE_EQ(table.choices[0].low, 1e-4);
  EXPECT_DOUBLE_EQ(table.choices[0].high, 1e-2);
  EXPECT_TRUE(table.choices[1].whole);
  EXPECT_THAT(table.choices[2].values,
              ElementsAre(R"(["features", "globals"])", R"(["features"])"));
  EXPECT_THAT(table.choices[3].values, ElementsAre("cpu"));
  EXPECT_THAT(table.choices[4].values, ElementsAre("0.001", "1"));
}

TEST_F(TableTest, NamesAllErrorsAtOnceWithTheirPlaces) {
  EXPECT_THAT(error_of(R"(
search = "bayes"
trails = 3
budgets = [4, 4]
[keys]
ppo.gamma = "1 .. 0"
ppo.ent_coef = []
)"),
              AllOf(HasSubstr("mine.toml:2:10: search is \"bayes\", expected \"grid\" or"),
                    HasSubstr("mine.toml:3:1: there is no key trails (did you mean trials?)"),
                    HasSubstr("each larger than the one before"), HasSubstr("config is missing"),
                    HasSubstr("mine.toml:6:13: keys.ppo.gamma is \"1 .. 0\", expected a list"),
                    HasSubstr("keys.ppo.ent_coef has no values")));
  EXPECT_THAT(error_of("config = "), HasSubstr("mine.toml:1:"));
}

TEST_F(TableTest, AGridRefusesRangesAndTooManyTrials) {
  const std::string begin = "config = \"a.toml\"\nsearch = \"grid\"\n[keys]\n";
  EXPECT_THAT(error_of(begin + "a = \"1 .. 2\"\n"), HasSubstr("a grid needs lists of values"));
  std::string many = begin;
  for (const char* key : {"a", "b", "c", "d", "e"}) {
    many += std::string(key) + " = [1, 2, 3, 4, 5, 6, 7]\n";
  }
  EXPECT_THAT(error_of(many), HasSubstr("more than 10000 combinations"));
}

TEST_F(TableTest, AMissingFileIsNamed) {
  EXPECT_THROW((void)read_table(dir_ / "none.toml"), ConfigError);
  EXPECT_THROW((void)read_table(dir_), ConfigError);
}

}  // namespace
}  // namespace traffic::tune
