#include "traffic/config/load.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "config/presets.h"
#include "traffic/config/schema.h"
#include "traffic/config/write.h"
#include "traffic/core/error.h"
#include "traffic/core/random.h"

namespace traffic::config {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Overrides set(std::initializer_list<const char*> texts) {
  Overrides overrides;
  for (const char* text : texts) overrides.assignments.push_back(parse_assignment(text));
  return overrides;
}

std::string error_of(const Overrides& overrides) {
  try {
    load_config("", overrides);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

class LoadFile : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::temp_directory_path() / fmt::format("traffic_config_{}", getpid());
    fs::create_directories(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }

  std::string error_of_file(const fs::path& path) {
    try {
      load_config(path);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no error";
  }

  fs::path dir_;
};

TEST_F(LoadFile, AnEmptyFileGivesTheDefaults) {
  std::ofstream(dir_ / "empty.toml").close();
  Config defaults;
  defaults.run.phase = "1";  // the number of the first training
  EXPECT_EQ(to_toml(load_config(dir_ / "empty.toml")), to_toml(defaults));
  EXPECT_EQ(to_toml(load_config("")), to_toml(defaults));
}

TEST_F(LoadFile, SaysWhatIsWrongWithThePath) {
  EXPECT_THAT(error_of_file(dir_ / "missing.toml"), HasSubstr("missing.toml: no such file"));
  EXPECT_THAT(error_of_file(dir_), HasSubstr("is a folder"));
  EXPECT_THAT(error_of_file("/dev/zero"), HasSubstr("is not a regular file"));
  ASSERT_EQ(mkfifo((dir_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(error_of_file(dir_ / "pipe"), HasSubstr("is not a regular file"));
  fs::create_symlink(dir_ / "nowhere", dir_ / "link.toml");
  EXPECT_THAT(error_of_file(dir_ / "link.toml"), HasSubstr("no such file"));
  EXPECT_THAT(error_of_file(dir_ / std::string(5000, 'x')), HasSubstr("cannot be looked up"));
}

TEST_F(LoadFile, RefusesAFileThatIsTooLargeWithoutReadingIt) {
  std::ofstream(dir_ / "large.toml").close();
  fs::resize_file(dir_ / "large.toml", std::uintmax_t{100} << 30U);  // sparse
  EXPECT_THAT(error_of_file(dir_ / "large.toml"), HasSubstr("1 MiB at most"));
}

TEST_F(LoadFile, TheShippedConfigurationIsValidAndMostlyDefaults) {
  const Config config = load_config(fs::path(TRAFFIC_SOURCE_DIR) / "configs/phase1.toml");
  EXPECT_EQ(config.run.name, "phase1");
  EXPECT_EQ(config.run.phase, "1");
  EXPECT_THAT(config.data.files, ElementsAre("data/merge/*.h5"));
}

TEST(Load, AnIntegerMayStandWhereANumberIsExpected) {
  EXPECT_EQ(parse_config("train.learning_rate = 1\n", "t").train.learning_rate, 1.0);
  EXPECT_THAT(parse_config("data.rank_weights = [1, 2.5]\n", "t").data.rank_weights,
              ElementsAre(1.0, 2.5));
}

TEST(Load, TablesMayBeWrittenInEveryWayTomlHas) {
  for (const char* text :
       {"[data.augmentation]\nenabled = true\n", "data.augmentation.enabled = true",
        "[data]\naugmentation = {enabled = true}\n", "data = {augmentation.enabled = true}\n",
        "\xef\xbb\xbf[data.augmentation]\r\nenabled = true\r\n"}) {
    EXPECT_TRUE(parse_config(text, "t").data.augmentation.enabled) << text;
  }
}

TEST(Load, PresetWinsOverFileAndSetOverPreset) {
  const char* file = "[train]\nepochs = 7\n[data]\nbatch_size = 3\nmax_vehicles = 5\n";
  EXPECT_EQ(parse_config(file, "t").data.batch_size, 3);
  Overrides overrides{.preset = "test"};
  EXPECT_EQ(parse_config(file, "t", overrides).data.batch_size, 8);
  EXPECT_EQ(parse_config(file, "t", overrides).train.epochs, 2);
  EXPECT_EQ(parse_config(file, "t", overrides).data.max_vehicles, 5);
  overrides.assignments = {{"--set", "data.batch_size", "11"}, {"--set", "data.batch_size", "12"}};
  EXPECT_EQ(parse_config(file, "t", overrides).data.batch_size, 12);
}

TEST(Load, UnknownKeysOfAStoredConfigurationAreSkippedAndNamed) {
  const std::string text =
      "[run]\nphase = \"2\"\nold_key = 3\n[ppo]\ngamma = 0.5\n[old_table]\na = 1\nb = 2\n";
  EXPECT_THROW(parse_config(text, "written.toml"), ConfigError);
  const Config config = parse_stored_config(text, "stored");
  EXPECT_EQ(config.ppo.gamma, 0.5);
  EXPECT_EQ(config.run.phase, "2");
  EXPECT_THAT(unknown_keys(text), ElementsAre("run.old_key", "old_table"));
  EXPECT_THAT(unknown_keys(to_toml(Config{})), ElementsAre());
  EXPECT_EQ(parse_stored_config(text, "stored", set({"ppo.gamma=0.25"})).ppo.gamma, 0.25);
}

TEST(Load, AStoredConfigurationIsOtherwiseReadStrictly) {
  const auto error = [](const char* text, const Overrides& overrides) -> std::string {
    try {
      parse_stored_config(text, "stored", overrides);
    } catch (const ConfigError& refused) {
      return refused.what();
    }
    return "no error";
  };
  EXPECT_THAT(error("ppo.gamma = 7\n", {}), HasSubstr("ppo.gamma"));
  EXPECT_THAT(error("ppo.gamma = \"0.5\"\n", {}), HasSubstr("a string"));
  EXPECT_THAT(error("ppo = 7\n", {}), HasSubstr("expected a table"));
  EXPECT_THAT(error("[ppo\n", {}), HasSubstr("not valid TOML"));
  EXPECT_THAT(error("", set({"ppo.old_key=1"})), HasSubstr("unknown key"));
}

TEST(Load, ATableOfAPhaseAppliesOnlyToThatPhase) {
  const std::string text =
      "[phase2.ppo]\ngamma = 0.5\n[run]\nphase = \"all\"\n[ppo]\ngamma = 0.9\n";
  const Plan plan = parse_plan(text, "three.toml");
  ASSERT_EQ(plan.phases.size(), 3U);
  EXPECT_EQ(plan.whole.run.phase, "all");
  EXPECT_EQ(plan.whole.ppo.gamma, 0.9);
  EXPECT_EQ(plan.phases[0].ppo.gamma, 0.9);
  EXPECT_EQ(plan.phases[1].ppo.gamma, 0.5);
  EXPECT_EQ(plan.phases[1].run.phase, "2");
  const Plan two = parse_plan(text, "three.toml", {.assignments = {{"--phase", "run.phase", "2"}}});
  ASSERT_EQ(two.phases.size(), 1U);
  EXPECT_EQ(two.phases[0].ppo.gamma, 0.5);
}

TEST(Load, SetReachesOnePhaseOrAll) {
  Overrides overrides{.preset = "test"};
  overrides.assignments = {parse_assignment("run.phase=all"), parse_assignment("ppo.gamma=0.25"),
                           parse_assignment("phase3.ppo.gamma=0.75")};
  const Plan plan = load_plan("", overrides);
  ASSERT_EQ(plan.phases.size(), 3U);
  EXPECT_EQ(plan.phases[0].train.epochs, 2);  // from the preset of phase 1
  EXPECT_EQ(plan.phases[1].training.iterations, 5);
  EXPECT_EQ(plan.phases[1].ppo.gamma, 0.25);
  EXPECT_EQ(plan.phases[2].ppo.gamma, 0.75);
}

TEST(Load, AScenarioOfTheCommandLineReplacesTheListOfAFile) {
  const std::string_view file = "[env]\nscenarios = [\"merge\", \"corridor\"]\n";
  EXPECT_EQ(parse_config(file, "many.toml", {}).env.scenarios.size(), 2U);
  const Config one = parse_config(file, "many.toml", set({"env.scenario=my.sumocfg"}));
  EXPECT_EQ(one.env.scenario, "my.sumocfg");
  EXPECT_TRUE(one.env.scenarios.empty());
  const Config list =
      parse_config(file, "many.toml", set({"env.scenario=town", "env.scenarios=[\"weave\"]"}));
  EXPECT_EQ(list.env.scenarios, std::vector<std::string>{"weave"});
}

TEST(Load, KeysOfLightsPpoThatNothingSetsFollowPpo) {
  const Config file =
      parse_config("[lights.ppo]\ngamma = 0.5\n[ppo]\ngamma = 0.9\nnum_epochs = 3\n", "lights.toml",
                   set({"ppo.lr_schedule=cosine"}));
  EXPECT_EQ(file.lights.ppo.gamma, 0.5);
  EXPECT_EQ(file.lights.ppo.num_epochs, 3);
  EXPECT_EQ(file.lights.ppo.lr_schedule, "cosine");
  EXPECT_EQ(file.ppo.gamma, 0.9);
  const Config again = parse_config(to_toml(file), "stored", set({"ppo.num_epochs=7"}));
  EXPECT_EQ(again.ppo.num_epochs, 7);
  EXPECT_EQ(again.lights.ppo.num_epochs, 3);          // the stored configuration writes all keys
  EXPECT_EQ(again.lights.ppo.lr_schedule, "cosine");  // not a key of [lights.ppo]
}

TEST(Load, APlanReadsBackToItself) {
  const Plan plan = parse_plan(
      "run.phase = \"all\"\n[phase1.data.augmentation]\nenabled = true\n[phase3.ppo]\ngamma = "
      "0.5\n",
      "three.toml", {.preset = "test"});
  const Plan again = parse_plan(to_toml(plan), "printed");
  EXPECT_EQ(to_toml(again), to_toml(plan));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(to_toml(again.phases[i]), to_toml(plan.phases[i])) << i + 1;
  }
}

TEST(Load, RefusesPhasesWithModelsOfDifferentSizes) {
  EXPECT_THROW(parse_plan("run.phase = \"all\"\n[phase2.model]\nhidden_dim = 64\n", "three.toml"),
               ConfigError);
}

TEST(Load, ReadsEveryShippedConfiguration) {
  int found = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(TRAFFIC_SOURCE_DIR) / "configs")) {
    if (entry.path().extension() != ".toml") continue;
    ++found;
    EXPECT_NO_THROW(load_plan(entry.path())) << entry.path();
    for (const std::string_view preset : preset_names()) {
      EXPECT_NO_THROW(load_plan(entry.path(), {.preset = std::string(preset)}))
          << entry.path() << " " << preset;
    }
  }
  EXPECT_GE(found, 2);
}

TEST(Load, EveryPresetIsValidOnItsOwnAndSetsOnlyKnownKeys) {
  for (const std::string_view name : preset_names()) {
    EXPECT_NO_THROW(load_config("", {.preset = std::string(name)})) << name;
    for (const TrainingFacts& training : trainings()) {
      EXPECT_FALSE(preset_values(name, training).empty()) << training.name;
      for (const PresetValue& value : preset_values(name, training)) {
        EXPECT_NE(find_row(value.key), nullptr) << value.key;
      }
    }
    EXPECT_FALSE(preset_help(name).empty());
  }
}

TEST(Load, ThePresetsHaveTheirPurposes) {
  const auto with = [](const char* name) { return load_config("", {.preset = name}); };
  EXPECT_EQ(with("test").model.hidden_dim, 64);
  EXPECT_EQ(with("test").train.epochs, 2);
  EXPECT_EQ(with("normal").data.batch_size, 32);
  EXPECT_EQ(with("max").data.batch_size, 48);
  EXPECT_EQ(with("max").comm.bucket_cap_mb, 50);
  EXPECT_EQ(with("memory").data.batch_size, 16);
  EXPECT_EQ(with("memory").data.cache_mb, 96);
  // Three quarters of data.cache_mb, 72 MiB, are for blocks of about 10 MiB. They must hold the
  // data.shuffle_chunks blocks from which samples are drawn, and two more.
  EXPECT_LT((with("memory").data.shuffle_chunks + 2) * 12, 72);
  EXPECT_FALSE(with("memory").data.persistent_workers);
  EXPECT_FALSE(with("memory").data.pin_memory);
  EXPECT_EQ(with("vram").data.batch_size, 12);
}

TEST(Set, TakesTomlValuesAndBareStrings) {
  const Config config =
      load_config("", set({"train.epochs=9", "train.learning_rate = 3e-4", "run.name=trial",
                           "run.dir=\"a b\"", "data.shuffle=false", "data.files=[\"a.h5\", 'b.h5']",
                           "run.resume=never", "data.rank_weights=[1, 2]", "run.init_from=a=b"}));
  EXPECT_EQ(config.train.epochs, 9);
  EXPECT_EQ(config.train.learning_rate, 3e-4);
  EXPECT_EQ(config.run.name, "trial");
  EXPECT_EQ(config.run.dir, "a b");
  EXPECT_FALSE(config.data.shuffle);
  EXPECT_THAT(config.data.files, ElementsAre("a.h5", "b.h5"));
  EXPECT_THAT(config.data.rank_weights, ElementsAre(1.0, 2.0));
  EXPECT_EQ(config.run.init_from, "a=b");
}

TEST(Set, ABareStringMayLookLikeAnotherTypeOrBeAGlob) {
  EXPECT_EQ(load_config("", set({"run.name=2024"})).run.name, "2024");
  EXPECT_EQ(load_config("", set({"run.name=true"})).run.name, "true");
  EXPECT_EQ(load_config("", set({"run.dir="})).run.dir, "");
  EXPECT_THAT(load_config("", set({"data.files=data/*.h5"})).data.files, ElementsAre("data/*.h5"));
}

TEST(Set, ErrorsSayThatTheyAreAboutSet) {
  EXPECT_EQ(error_of(set({"train.epoch=3"})),
            "--set: train.epoch: unknown key; did you mean 'train.epochs'?");
  EXPECT_EQ(error_of(set({"train=3"})), "--set: train: is a table; expected a key in it");
  EXPECT_EQ(error_of(set({"train.epochs=0"})),
            "--set: train.epochs: found 0, expected 1 to 1000000 epochs");
  EXPECT_EQ(error_of(set({"train.epochs=\"3\""})),
            "--set: train.epochs: found a string, expected an integer");
  EXPECT_THAT(error_of(set({"train.epochs="})), HasSubstr("--set: train.epochs: found ''"));
  EXPECT_THAT(error_of(set({"train.epochs=1\nx=2"})), HasSubstr("more than one value"));
  EXPECT_THAT(error_of(set({"run.dir=\xff\xfe"})), HasSubstr("found '\\xff\\xfe'"));
  EXPECT_THAT(error_of(set({"=3"})), HasSubstr("unknown key"));
  EXPECT_EQ(error_of(set({"model.num_heads=3"})),
            "--set: model.hidden_dim: found 256, expected a multiple of model.num_heads (3)");
  EXPECT_THROW(parse_assignment("train.epochs"), ConfigError);
}

TEST(Load, RandomlyDamagedFilesAreLoadedOrRefusedButNeverCrash) {
  std::string valid = to_toml(load_config("", set({"data.files=[\"a.h5\"]"})));
  Rng rng(2024);
  int refused = 0;
  constexpr int kFiles = 2000;
  for (int i = 0; i < kFiles; ++i) {
    std::string text = valid;
    const std::uint64_t changes = 1 + rng.uniform_int(4);
    for (std::uint64_t k = 0; k < changes; ++k) {
      const auto at = static_cast<std::size_t>(rng.uniform_int(text.size()));
      switch (rng.uniform_int(4)) {
        case 0:
          text[at] = static_cast<char>(rng.uniform_int(256));
          break;
        case 1:
          text.erase(at, static_cast<std::size_t>(rng.uniform_int(20)));
          break;
        case 2:
          text.insert(at, 1, "[]{}\"'=.,\n#\\\0e-"[rng.uniform_int(15)]);
          break;
        default:
          text.insert(at, text.substr(static_cast<std::size_t>(rng.uniform_int(text.size())),
                                      static_cast<std::size_t>(rng.uniform_int(60))));
      }
    }
    try {
      parse_config(text, "fuzz.toml");
    } catch (const ConfigError& error) {
      ++refused;
      EXPECT_THAT(error.what(), HasSubstr("fuzz.toml:"));
    }
  }
  // Many changes only alter a digit and leave a valid file. If few files were refused, the changes
  // would hardly be damage.
  EXPECT_GT(refused, kFiles / 3);
  EXPECT_LT(refused, kFiles);
}

}  // namespace
}  // namespace traffic::config
