#include "traffic/config/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "config/help.h"
#include "traffic/config/load.h"
#include "traffic/config/write.h"
#include "traffic/core/error.h"
#include "train/driving/settings.h"
#include "train/offpolicy/settings.h"
#include "train/snakes/settings.h"

namespace traffic::config {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

/// Stands for any member of an aggregate, to count how many the aggregate has.
struct Anything {
  template <typename T>
  operator T() const;  // NOLINT: implicit on purpose; never defined, never called
};

template <typename T, std::size_t... I>
constexpr bool has_members(std::index_sequence<I...> /*indices*/) {
  return requires { T{((void)I, Anything{})...}; };
}

template <typename T, std::size_t N = 0>
constexpr std::size_t count_members() {
  if constexpr (has_members<T>(std::make_index_sequence<N + 1>{})) {
    return count_members<T, N + 1>();
  } else {
    return N;
  }
}

static_assert(count_members<Augmentation>() == 6, "the count itself works");
static_assert(count_members<Config>() == 23,  // with the extensions, which have rows of their own
              "Config has a new member: add its members to the sum below");
constexpr std::size_t kNested = 2;  // Data::augmentation, Lights::ppo
/// Members of Ppo that have no row in [lights.ppo]. The update of the lights does not use seven of
/// them, and seven others apply to vehicles and lights alike.
constexpr std::size_t kNotOfLights = 14;
constexpr std::size_t kFields =
    count_members<Run>() + count_members<Model>() + count_members<Data>() - kNested +
    count_members<Augmentation>() + count_members<Train>() + count_members<LossScale>() +
    count_members<Gpu>() + count_members<Memory>() + count_members<Env>() +
    count_members<Rollout>() + count_members<Vehicles>() + count_members<Training>() +
    count_members<Episodes>() + count_members<Imitation>() + 2 * count_members<Ppo>() -
    kNotOfLights + count_members<Lights>() + count_members<Lagrange>() +
    count_members<Evaluation>() + count_members<Search>() + count_members<Comm>() +
    count_members<Checkpoint>() + count_members<Log>() + count_members<Profile>();

/// Keys of sections that a training adds.
constexpr std::size_t kOwnFields = count_members<train::offpolicy::OffPolicy>() +
                                   count_members<train::snakes::Snakes>() +
                                   count_members<train::driving_policy::Driving>();

TEST(Schema, HasARowForEveryFieldOfTheStructs) { EXPECT_EQ(schema().size(), kFields + kOwnFields); }

TEST(Schema, NoTwoRowsShareAKeyOrAField) {
  Config config;
  std::set<std::string_view> keys;
  std::set<const void*> fields;
  for (const Row& row : schema()) {
    EXPECT_TRUE(keys.insert(row.key).second) << row.key;
    const void* field =
        std::visit([](auto* at) { return static_cast<const void*>(at); }, row.field(config));
    EXPECT_TRUE(fields.insert(field).second) << row.key;
    const std::string_view section = row.section();
    const std::set<std::string_view> own{"offpolicy", "game", "driving"};
    if (own.contains(section)) continue;
    EXPECT_GE(field, static_cast<const void*>(&config));
    EXPECT_LT(field, static_cast<const void*>(&config + 1));
  }
}

TEST(Schema, EveryRowIsExplainedAndInAKnownSection) {
  std::set<std::string_view> names;
  for (const Section& section : sections()) {
    EXPECT_FALSE(section.help.empty());
    names.insert(section.name);
  }
  std::set<std::string_view> seen;
  std::string_view last;
  for (const Row& row : schema()) {
    EXPECT_TRUE(names.contains(row.section())) << row.key;
    EXPECT_TRUE(row.help.ends_with('.')) << row.key;
    EXPECT_EQ(row.help.find('|'), std::string_view::npos) << row.key;
    if (row.section() != last) {
      EXPECT_TRUE(seen.insert(row.section()).second)
          << "the rows of a section must follow each other in the schema";
    }
    last = row.section();
  }
  EXPECT_EQ(seen, names);
}

TEST(Schema, DefaultsAreWithinTheirOwnLimits) {
  // Reading a value checks its limits, so reading the printed defaults must not fail.
  EXPECT_NO_THROW(parse_config(to_toml(Config{}), "defaults"));
}

TEST(Write, AConfigReadsBackToTheSameBits) {
  Overrides overrides;
  overrides.preset = "max";
  for (const char* text : {"train.learning_rate=0.1234567890123456789", "train.adam_eps=1e-300",
                           "run.seed=9007199254740993", "run.dir=a \"quoted\" \\ \u4e2d path",
                           "data.files=['x.h5', '\"y\".h5']", "data.rank_weights=[0.1, 3]",
                           "data.shuffle=false", "log.progress=off"}) {
    overrides.assignments.push_back(parse_assignment(text));
  }
  const Config config = load_config("", overrides);
  const Config again = parse_config(to_toml(config), "printed");
  EXPECT_EQ(to_toml(again), to_toml(config));
  EXPECT_EQ(again.train.learning_rate, config.train.learning_rate);
  EXPECT_EQ(again.train.adam_eps, 1e-300);
  EXPECT_EQ(again.run.seed, 9007199254740993);
  EXPECT_EQ(again.run.dir, config.run.dir);
  EXPECT_EQ(again.data.files, config.data.files);
}

TEST(Write, FlattenNamesEveryKeyWithAValueThatSetAccepts) {
  const auto values = flatten(Config{});
  EXPECT_EQ(values.size(), schema().size());
  EXPECT_EQ(values.at("train.epochs"), "50");
  EXPECT_EQ(values.at("train.clip_norm"), "1.0");
  EXPECT_EQ(values.at("run.name"), "\"traffic\"");
  EXPECT_EQ(values.at("data.files"), "[]");
  Overrides overrides;
  for (const auto& [key, value] : values) overrides.assignments.push_back({"--set", key, value});
  Config defaults;
  defaults.run.phase = "1";  // the number of the first training
  EXPECT_EQ(to_toml(load_config("", overrides)), to_toml(defaults));
}

TEST(Write, TheModelHashDependsOnTheModelOnly) {
  Config config;
  config.train.epochs = 3;
  config.run.dir = "elsewhere";
  EXPECT_EQ(model_hash(config), model_hash(Config{}));
  config.model.gnn_layers = 2;
  EXPECT_NE(model_hash(config), model_hash(Config{}));
}

TEST(LearningRates, OnlyNumbersNamedLearningRateAreMarked) {
  Config config;
  for (const Row& row : schema()) {
    const bool is_number = std::holds_alternative<double*>(row.field(config));
    const bool is_named_so = row.name().find("learning_rate") != std::string_view::npos &&
                             !row.name().ends_with("_share");
    EXPECT_EQ(row.is_learning_rate, is_number && is_named_so) << row.key;
  }
}

TEST(LearningRates, HalvingReachesTheRatesOfAllTrainings) {
  const Config config;
  Config halved = config;
  halve_learning_rates(halved);
  const auto before = flatten(config);
  const auto after = flatten(halved);
  std::set<std::string> changed;
  for (const auto& [key, value] : before) {
    if (after.at(key) == value) continue;
    changed.insert(key);
    EXPECT_EQ(std::stod(after.at(key)), 0.5 * std::stod(value)) << key;
  }
  const std::set<std::string> rates{
      "train.learning_rate",       // phase 1
      "train.min_learning_rate",   // phase 1
      "ppo.learning_rate",         // vehicles by PPO
      "ppo.final_learning_rate",   // vehicles by PPO
      "lights.ppo.learning_rate",  // lights by PPO
      "lights.ppo.final_learning_rate",
      "lagrange.learning_rate",  // phase 3
      "lagrange.critic_learning_rate",
      "offpolicy.learning_rate",        // Q-learning of vehicles, of lights and of snakes
      "offpolicy.actor_learning_rate",  // DDPG and SAC of snakes
      "offpolicy.temperature_learning_rate"};
  EXPECT_EQ(changed, rates);
}

TEST(Range, ContainsAndDescribesItsBounds) {
  EXPECT_EQ((Range{.low = 1, .high = 64}.describe()), "1 to 64");
  EXPECT_EQ((Range{.low = 0, .high = 1, .high_open = true}.describe()), ">= 0 and < 1");
  EXPECT_EQ((Range{.low = 0, .low_open = true}.describe()), "> 0");
  EXPECT_EQ((Range{.high = 0.5}.describe()), "<= 0.5");
  EXPECT_EQ((Range{}.describe()), "");
  EXPECT_TRUE((Range{.low = 0, .high = 1}.contains(1)));
  EXPECT_FALSE((Range{.low = 0, .high = 1, .high_open = true}.contains(1)));
  EXPECT_FALSE((Range{.low = 0, .low_open = true}.contains(0)));
}

TEST(Help, ShowsEveryKeyWithItsDefaultAndLimits) {
  const std::string text = help_text("", 120);
  for (const Row& row : schema()) {
    EXPECT_THAT(text, HasSubstr("  " + std::string(row.key) + " = "));
  }
  EXPECT_THAT(text, HasSubstr("[data.augmentation]"));
  EXPECT_THAT(text, HasSubstr("0 to 65536 samples"));
  EXPECT_THAT(text, HasSubstr("one of fp32, bf16"));
}

TEST(Help, NamesTheTablesThatAllPhasesShare) {
  std::string shared;
  for (const Section& section : sections()) {
    const auto rows = schema();
    const auto row = std::ranges::find_if(
        rows, [&](const Row& candidate) { return candidate.section() == section.name; });
    Config defaults;
    try {
      parse_config("[phase2." + std::string(section.name) + "]\n" + std::string(row->name()) +
                       " = " + to_toml_value(row->field(defaults)) + "\n",
                   "phase.toml");
    } catch (const ConfigError& error) {
      if (std::string(error.what()).find("is the same for all phases") == std::string::npos) {
        continue;
      }
      shared += "`[" + std::string(section.name) + "]`, ";
    }
  }
  EXPECT_EQ(shared, "`[run]`, `[gpu]`, `[comm]`, `[log]`, ");
  EXPECT_THAT(help_markdown(),
              HasSubstr("All phases of a run share `[run]`, `[comm]`, `[gpu]`, `[log]` and "
                        "`[model]`."));
}

TEST(Help, FitsTheWidthUnlessOneWordIsLonger) {
  for (const int width : {80, 120}) {
    std::istringstream text(help_text("", width));
    for (std::string line; std::getline(text, line);) {
      const bool is_one_word = line.find(' ', line.find_first_not_of(' ')) == std::string::npos;
      if (is_one_word) continue;
      EXPECT_LE(line.size(), static_cast<std::size_t>(width)) << line;
    }
  }
}

TEST(Help, AFilterChoosesATableAKeyOrAWord) {
  const auto keys_of = [](std::string_view filter) {
    std::vector<std::string> keys;
    std::istringstream text(help_text(filter, 120));
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with("  ") && line[2] != ' ')
        keys.push_back(line.substr(2, line.find(" = ") - 2));
    }
    return keys;
  };
  EXPECT_THAT(keys_of("loss_scale"), AllOf(Not(IsEmpty()), Each(StartsWith("loss_scale."))));
  EXPECT_THAT(keys_of("data"), AllOf(Contains("data.files"), Contains("data.augmentation.enabled"),
                                     Each(StartsWith("data."))));
  EXPECT_THAT(keys_of("train.epochs"), ElementsAre("train.epochs"));
  EXPECT_THAT(keys_of("WARMUP"), AllOf(Contains("train.warmup_epochs"), Not(Contains("run.seed"))));
}

TEST(Help, TheCommittedReferenceIsTheGeneratedOne) {
  std::ifstream in(TRAFFIC_SOURCE_DIR "/docs/reference/configuration.md");
  const std::string committed((std::istreambuf_iterator<char>(in)), {});
  EXPECT_TRUE(committed == help_markdown())
      << "run: ./traffic_train --help-config=markdown > docs/reference/configuration.md";
}

}  // namespace
}  // namespace traffic::config
