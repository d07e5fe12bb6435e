// A program of its own, because a section that is registered stays in the schema, which other tests
// of the module examine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "traffic/config/load.h"
#include "traffic/config/schema.h"
#include "traffic/config/write.h"
#include "traffic/core/error.h"

namespace traffic::config {
namespace {

using ::testing::HasSubstr;

struct Search {
  std::int64_t population = 32;
  std::string rule = "mean";
};

TEST(Extensions, ASectionOfATrainingIsReadCheckedAndWritten) {
  register_section({"cross_entropy", "A section of a training's own."},
                   {{TRAFFIC_EXTENSION_KEY("cross_entropy", Search, population),
                     .help = "Candidates of an iteration.", .range = between(2, 1000)},
                    {TRAFFIC_EXTENSION_KEY("cross_entropy", Search, rule), .help = "What is kept.",
                     .choices = {"mean", "best"}}});
  EXPECT_EQ(Config{}.extension<Search>().population, 32);
  const Config config = parse_config("[cross_entropy]\npopulation = 7\n", "t");
  EXPECT_EQ(config.extension<Search>().population, 7);
  EXPECT_EQ(config.extension<Search>().rule, "mean");
  const Config copy = config;
  EXPECT_EQ(copy.extension<Search>().population, 7);
  EXPECT_THAT(to_toml(config), HasSubstr("[cross_entropy]\npopulation = 7\n"));
  EXPECT_EQ(parse_config(to_toml(config), "printed").extension<Search>().population, 7);
  EXPECT_THROW(parse_config("[cross_entropy]\npopulation = 1\n", "t"), ConfigError);
  EXPECT_THROW(parse_config("cross_entropy.rule = \"worst\"\n", "t"), ConfigError);
  EXPECT_THROW(register_section({"cross_entropy", "Again."}, {}), Error);
}

}  // namespace
}  // namespace traffic::config
