#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "traffic/config/load.h"
#include "traffic/core/error.h"

namespace traffic::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string errors_of(std::string_view text, const Overrides& overrides = {}) {
  try {
    parse_config(text, "bad.toml", overrides);
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.code(), ExitCode::kConfig);
    return error.what();
  }
  return "no error";
}

struct BadConfig {
  const char* name;
  std::string text;
  std::string message;  ///< the whole error message, one line
};

class BadConfigTest : public ::testing::TestWithParam<BadConfig> {};

TEST_P(BadConfigTest, IsRefusedWithPlaceKeyFoundAndExpected) {
  EXPECT_EQ(errors_of(GetParam().text), GetParam().message);
}

const std::vector<BadConfig> kBadConfigs{
    {"KeyWithATypo", "[train]\nlearnin_rate = 1e-3\n",
     "bad.toml:2:1: train.learnin_rate: unknown key; did you mean "
     "'train.learning_rate'?"},
    {"KeyOfAnotherTable", "[train]\nbatch_size = 8\n",
     "bad.toml:2:1: train.batch_size: unknown key; did you mean 'data.batch_size'?"},
    {"KeyWithoutItsTable", "epochs = 8\n",
     "bad.toml:1:1: epochs: unknown key; did you mean 'train.epochs'?"},
    {"KeyThatResemblesNothing", "[train]\nxylophone = 1\n",
     "bad.toml:2:1: train.xylophone: unknown key; see --help-config for all keys"},
    {"KeyInOtherCase", "[train]\nEpochs = 1\n",
     "bad.toml:2:1: train.Epochs: unknown key; did you mean 'train.epochs'?"},
    {"QuotedKeyThatLooksDotted", "\"train.epochs\" = 3\n",
     "bad.toml:1:1: \"train.epochs\": unknown key; did you mean 'train.epochs'?"},
    {"SeedsThatFall", "[evaluation]\nseeds = \"5..1\"\n",
     "bad.toml:2:9: evaluation.seeds: found '5..1', expected a rising range of at most 100000 "
     "seeds"},
    {"SeedTwice", "[evaluation]\nseeds = \"1,3,2..4\"\n",
     "bad.toml:2:9: evaluation.seeds: found '1,3,2..4', expected each seed once"},
    {"ControllerTwice", "[evaluation]\ncontrollers = [\"none\", \"none\"]\n",
     "bad.toml:2:15: evaluation.controllers: expected each controller once"},
    {"EmptyKey", "\"\" = 3\n", "bad.toml:1:1: \"\": unknown key; see --help-config for all keys"},
    {"TableWithATypo", "[trian]\nepochs = 8\nlearning_rate = 1\n",
     "bad.toml:1:2: trian: unknown table; did you mean 'train'?"},
    {"TableThatResemblesNothing", "[kitchen.sink]\na = 1\n",
     "bad.toml:1:2: kitchen: unknown table; see --help-config for all tables"},
    {"TableInsideAKnownOne", "[data.augmentations]\nenabled = true\n",
     "bad.toml:1:7: data.augmentations: unknown table; did you mean "
     "'data.augmentation'?"},
    {"ValueForATable", "train = 3\n", "bad.toml:1:9: train: found an integer, expected a table"},
    {"ListOfTables", "[[train]]\nepochs = 1\n",
     "bad.toml:1:1: train: found a list, expected a table"},
    {"TableForAValue", "[train.epochs]\nn = 1\n",
     "bad.toml:1:8: train.epochs: found a table, expected an integer"},
    {"StringForAnInteger", "train.epochs = \"5\"\n",
     "bad.toml:1:16: train.epochs: found a string, expected an integer"},
    {"FloatForAnInteger", "train.epochs = 5.0\n",
     "bad.toml:1:16: train.epochs: found a number with a point, expected an integer"},
    {"BooleanForAnInteger", "train.epochs = true\n",
     "bad.toml:1:16: train.epochs: found a boolean, expected an integer"},
    {"DateForAnInteger", "train.epochs = 1979-05-27\n",
     "bad.toml:1:16: train.epochs: found a date or time, expected an integer"},
    {"ListForAnInteger", "train.epochs = [1]\n",
     "bad.toml:1:16: train.epochs: found a list, expected an integer"},
    {"StringForANumber", "train.learning_rate = \"fast\"\n",
     "bad.toml:1:23: train.learning_rate: found a string, expected a number"},
    {"IntegerForABoolean", "data.shuffle = 1\n",
     "bad.toml:1:16: data.shuffle: found an integer, expected a boolean (true or "
     "false)"},
    {"IntegerForAString", "run.name = 5\n",
     "bad.toml:1:12: run.name: found an integer, expected a string"},
    {"StringForAList", "data.files = \"a.h5\"\n",
     "bad.toml:1:14: data.files: found a string, expected a list of strings"},
    {"IntegerInAListOfStrings", "data.files = [\"a.h5\", 3]\n",
     "bad.toml:1:14: data.files: item 2: found an integer, expected a string"},
    {"NestedList", "data.files = [[\"a.h5\"]]\n",
     "bad.toml:1:14: data.files: item 1: found a list, expected a string"},
    {"EmptyFileName", "data.files = [\"\"]\n",
     "bad.toml:1:14: data.files: item 1: found '', expected a text that is not "
     "empty"},
    {"MeasuredSharesBesideGivenOnes",
     "[data]\nshard_weights = \"measured\"\nrank_weights = [1, 2]\n",
     "bad.toml:3:16: data.shard_weights: found \"measured\" although data.rank_weights is set; "
     "leave data.rank_weights out or set \"fixed\""},
    {"NegativeWeightInAList", "data.rank_weights = [1, -2]\n",
     "bad.toml:1:21: data.rank_weights: item 2: found -2, expected > 0 and <= "
     "1000000"},
    {"ZeroWhereOneIsTheLeast", "data.max_vehicles = 0\n",
     "bad.toml:1:21: data.max_vehicles: found 0, expected 1 to 4096 vehicles"},
    {"NegativeInteger", "data.batch_size = -32\n",
     "bad.toml:1:19: data.batch_size: found -32, expected 0 to 65536 samples"},
    {"TooLargeInteger", "data.batch_size = 9223372036854775807\n",
     "bad.toml:1:19: data.batch_size: found 9223372036854775807, expected 0 to 65536 "
     "samples"},
    {"ZeroAtAnOpenBound", "train.learning_rate = 0\ntrain.min_learning_rate = 0\n",
     "bad.toml:1:23: train.learning_rate: found 0, expected > 0 and <= 10"},
    {"OneAtAnOpenBound", "train.adam_beta1 = 1.0\n",
     "bad.toml:1:20: train.adam_beta1: found 1, expected >= 0 and < 1"},
    {"NegativeTime", "comm.timeout_s = -5\n",
     "bad.toml:1:18: comm.timeout_s: found -5, expected > 0 and <= 86400 s"},
    {"NegativeSeed", "run.seed = -1\n", "bad.toml:1:12: run.seed: found -1, expected >= 0"},
    {"PhaseThatDoesNotExist", "run.phase = 7\n",
     "bad.toml:1:13: run.phase: found '7', expected one of all, 1, 2, 3, world_model, ppo, "
     "ppo_constrained, snakes, dqn, driving, or several of them separated by commas"},
    {"KeyInAnotherPhase", "[phase2.training]\niteration = 1\n",
     "bad.toml:2:1: phase2.training.iteration: unknown key; did you mean 'training.iterations'?"},
    {"ValueInAnotherPhase", "[phase3.training]\niterations = 0\n",
     "bad.toml:2:14: training.iterations: found 0, expected 1 to 1000000 iterations"},
    {"RunInTheTableOfAPhase", "[phase1.run]\nseed = 1\n",
     "bad.toml:2:8: run.seed: is the same for all phases; give it outside the tables of a phase"},
    {"PhaseFour", "[phase4.ppo]\ngamma = 1\n",
     "bad.toml:1:2: phase4: unknown table; see --help-config for all tables"},
    {"NotANumber", "train.learning_rate = nan\n",
     "bad.toml:1:23: train.learning_rate: found nan, expected a finite number"},
    {"Infinity", "train.clip_norm = inf\n",
     "bad.toml:1:19: train.clip_norm: found inf, expected a finite number"},
    {"NegativeInfinity", "train.weight_decay = -inf\n",
     "bad.toml:1:22: train.weight_decay: found -inf, expected a finite number"},
    {"ChoiceWithATypo", "train.precision = \"fp23\"\n",
     "bad.toml:1:19: train.precision: found 'fp23', expected one of fp32, bf16, fp16; did "
     "you mean 'fp32'?"},
    {"ChoiceThatIsEmpty", "log.level = \"\"\n",
     "bad.toml:1:13: log.level: found '', expected one of debug, info, warning, "
     "error"},
    {"NameThatLeavesItsFolder", "run.name = \"../../etc\"\n",
     "bad.toml:1:12: run.name: found '../../etc', expected letters, digits, '_', '-' "
     "and '.', not starting with '.'"},
    {"NameForAShell", "run.name = \"a; touch x\"\n",
     "bad.toml:1:12: run.name: found 'a; touch x', expected letters, digits, '_', '-' "
     "and '.', not starting with '.'"},
    {"EmptyName", "run.name = \"\"\n",
     "bad.toml:1:12: run.name: found '', expected 1 to 100 characters"},
    {"EmptyResume", "run.resume = \"\"\n",
     "bad.toml:1:14: run.resume: found '', expected a text that is not empty"},
    {"ZeroByteInAPath", "run.dir = \"a\\u0000b\"\n",
     "bad.toml:1:11: run.dir: found 'a\\x00b', expected a text without control "
     "characters"},
    {"HeadsThatDoNotDivideTheWidth", "[model]\nhidden_dim = 100\n",
     "bad.toml:2:14: model.hidden_dim: found 100, expected a multiple of "
     "model.num_heads (8)"},
    {"MinimumAboveTheLearningRate", "[train]\nmin_learning_rate = 1e-2\nlearning_rate = 1e-3\n",
     "bad.toml:3:17: train.min_learning_rate: found 0.01, expected at most "
     "train.learning_rate (0.001)"},
    {"OtherWeightsForAResumedRun", "run.resume = \"a.h5\"\nrun.init_from = \"b.h5\"\n",
     "bad.toml:2:17: run.init_from: run.resume names a checkpoint to continue from, so the "
     "run cannot start from other weights; set only one of the two"}};

INSTANTIATE_TEST_SUITE_P(Cases, BadConfigTest, ::testing::ValuesIn(kBadConfigs),
                         [](const auto& test) { return std::string(test.param.name); });

struct BadSyntax {
  const char* name;
  std::string text;
  std::string place;
  std::string words;  ///< words of a message of toml++; other versions of toml++ may differ
};

class BadSyntaxTest : public ::testing::TestWithParam<BadSyntax> {};

TEST_P(BadSyntaxTest, IsRefusedWithItsPlace) {
  const std::string message = errors_of(GetParam().text);
  EXPECT_THAT(message, StartsWith(GetParam().place + ": not valid TOML: "));
  EXPECT_THAT(message, HasSubstr(GetParam().words));
  EXPECT_LT(message.size(), 400U);
}

const std::vector<BadSyntax> kBadSyntaxes{
    {"NoValue", "[train]\nepochs = \n", "bad.toml:2:10", "value"},
    {"NoEquals", "[train]\nepochs 5\n", "bad.toml:2:8", "'='"},
    {"UnclosedTable", "[train\nepochs = 5\n", "bad.toml:1:7", "']'"},
    {"UnclosedString", "run.name = \"abc\n", "bad.toml:1:16", ""},
    {"UnclosedList", "data.files = [\"a\"\n", "bad.toml:1:19", "array"},
    {"BareString", "run.device = cuda\n", "bad.toml:1:14", ""},
    {"DuplicateKey", "[train]\nepochs = 5\nepochs = 6\n", "bad.toml:3:10", "epochs"},
    {"DuplicateTable", "[train]\nepochs = 5\n[train]\n", "bad.toml:3:1", "train"},
    {"IntegerBeyond64Bits", "run.seed = 99999999999999999999\n", "bad.toml:1:32", "64 bits"},
    {"FloatBeyondDouble", "train.learning_rate = 1e999\n", "bad.toml:1:28", "1e999"},
    {"NotUtf8", "run.name = \"\xff\"\n", "bad.toml:1:12", "utf-8"},
    {"ControlCharacter", std::string("run.name = \"a\x01\"\n"), "bad.toml:1:14", ""},
    {"ZeroBytes", std::string(8, '\0'), "bad.toml:1:1", ""},
    {"Json", "{\"train\": {\"epochs\": 5}}\n", "bad.toml:1:1", ""},
    {"Yaml", "train:\n  epochs: 5\n", "bad.toml:1:6", ""},
    {"DeepLists", "a = " + std::string(100000, '['), "bad.toml:1:261", "nest"},
    {"LongGarbage", std::string(100000, 'x'), "bad.toml:1:100001", ""}};

INSTANTIATE_TEST_SUITE_P(Cases, BadSyntaxTest, ::testing::ValuesIn(kBadSyntaxes),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(BadConfig, AllErrorsOfAFileAreNamedAtOnceInTheirOrder) {
  EXPECT_EQ(errors_of("[train]\n"
                      "epoch = 5\n"
                      "learning_rate = -1\n"
                      "[modle]\n"
                      "hidden_dim = 3\n"
                      "[data]\n"
                      "shuffle = \"yes\"\n"),
            "bad.toml:2:1: train.epoch: unknown key; did you mean 'train.epochs'?\n"
            "bad.toml:3:17: train.learning_rate: found -1, expected > 0 and <= 10\n"
            "bad.toml:4:2: modle: unknown table; did you mean 'model'?\n"
            "bad.toml:7:11: data.shuffle: found a string, expected a boolean (true or false)");
}

TEST(BadConfig, AContradictionWithARefusedValueIsNotReportedOnTop) {
  EXPECT_EQ(errors_of("[model]\nnum_heads = 0\nhidden_dim = 100\n"),
            "bad.toml:2:13: model.num_heads: found 0, expected 1 to 64");
}

TEST(BadConfig, ImitationNeedsTheScriptsCommandsAmongTheActions) {
  const std::string imitation = "[imitation]\niterations = 2\ncontrollers = ";
  EXPECT_THAT(
      errors_of(imitation + "['meter', 'yield']\n[vehicles]\ncommands = ['none', 'stop']\n"),
      AllOf(HasSubstr("found 2 controllers, expected one, or one for each of the 1 scenarios"),
            HasSubstr("expected arrive_late among the commands, because the script yield gives "
                      "this command")));
  EXPECT_THAT(errors_of(imitation + "['meter']\n[vehicles]\nlongitudinal = 'target_speed'\n"),
              HasSubstr("found \"target_speed\", expected \"categorical\""));
  EXPECT_EQ(errors_of(imitation + "['meter']\n"), "no error");
}

TEST(BadConfig, AnAdvisorNeedsItsCommandsAmongTheActions) {
  EXPECT_THAT(
      errors_of("[vehicles]\nadvisor = 'yield'\n"),
      HasSubstr(
          "expected arrive_late among the commands, because the script yield gives this command"));
  EXPECT_THAT(errors_of("[vehicles]\nadvisor = 'max_pressure'\n"), HasSubstr("vehicles.advisor"));
  EXPECT_THAT(errors_of("[vehicles]\nadvisor = 'metre'\n"), HasSubstr("did you mean 'meter'?"));
  EXPECT_THAT(errors_of("[vehicles]\ncommands = ['none', 'left', 'right']\nlane_change = true\n"),
              HasSubstr("found true, expected false, because vehicles.commands has left or right"));
  EXPECT_THAT(errors_of("[vehicles]\nadvisor = 'meter'\nlongitudinal = 'acceleration'\n"),
              HasSubstr("found \"acceleration\", expected \"categorical\""));
  EXPECT_EQ(errors_of("[vehicles]\nadvisor = 'meter(density=25)'\n"), "no error");
}

TEST(BadConfig, EpisodesOfAGivenLengthAreWholeAndNeedACacheFolder) {
  EXPECT_THAT(
      errors_of("[episodes]\nlength_s = 30\nbaseline_cache = ''\n"),
      AllOf(HasSubstr("episodes.rollout_fragment_length"), HasSubstr("found 200, expected 0"),
            HasSubstr("expected a folder"), HasSubstr("expected 0 or at least 60")));
  EXPECT_EQ(errors_of("[episodes]\nlength_s = 600\nrollout_fragment_length = 0\n"), "no error");
}

TEST(BadConfig, KeysAndTablesOfEarlierVersionsAreRefusedWithTheirNewNames) {
  EXPECT_EQ(errors_of("[run]\nphase = 2\n[ppo]\niterations = 5\nhandover_episodes = 3\n"
                      "imitation_controllers = ['meter']\n"),
            "bad.toml:4:1: ppo.iterations: has moved to training.iterations\n"
            "bad.toml:5:1: ppo.handover_episodes: has moved to training.final_episodes\n"
            "bad.toml:6:1: ppo.imitation_controllers: has moved to imitation.controllers");
  EXPECT_EQ(errors_of("[env]\nactors = ['vehicles']\n[action]\nlane_change = false\n[controller]\n"
                      "[signals]\n[joint_lights]\n"),
            "bad.toml:2:1: env.actors: has moved to env.agents\n"
            "bad.toml:3:2: action: has moved to vehicles\n"
            "bad.toml:5:2: controller: has moved to vehicles\n"
            "bad.toml:6:2: signals: has moved to lights\n"
            "bad.toml:7:2: joint_lights: has moved to lights.ppo");
  EXPECT_EQ(errors_of("[phase2.ppo]\nepisode_s = 600\n[phase2.controller]\ntop_k = 3\n"),
            "bad.toml:2:1: phase2.ppo.episode_s: has moved to phase2.episodes.length_s\n"
            "bad.toml:3:9: phase2.controller: has moved to phase2.vehicles");
  const Overrides overrides{.assignments = {{"--set", "controller.top_k", "3"},
                                            {"--set", "signals.learner", "dqn"},
                                            {"--set", "phase2.ppo.decide", "greedy"}}};
  EXPECT_EQ(errors_of("", overrides),
            "--set: controller.top_k: has moved to vehicles.top_k\n"
            "--set: signals.learner: has moved to run.phase\n"
            "--set: phase2.ppo.decide: has moved to phase2.training.decide");
  EXPECT_THAT(errors_of("", {.assignments = {{"--set", "controller.no_such_key", "3"}}}),
              HasSubstr("unknown key"));
}

TEST(BadConfig, KeysThatVehiclesAndLightsShareAreRefusedInLightsPpo) {
  EXPECT_EQ(errors_of("[lights.ppo]\nclip_range = 0.1\n[phase2.lights.ppo]\nvf_coef = 1.0\n"),
            "bad.toml:2:1: lights.ppo.clip_range: has moved to ppo.clip_range\n"
            "bad.toml:4:1: phase2.lights.ppo.vf_coef: has moved to phase2.ppo.vf_coef");
}

TEST(BadConfig, ErrorsOfFileAndCommandLineComeTogether) {
  const Overrides overrides{.preset = "tset", .assignments = {{"--set", "train.epochs", "0"}}};
  EXPECT_EQ(errors_of("run.seed = -1\n", overrides),
            "bad.toml:1:12: run.seed: found -1, expected >= 0\n"
            "--preset: found 'tset', expected one of test, normal, max, memory, vram; did you "
            "mean 'test'?\n"
            "--set: train.epochs: found 0, expected 1 to 1000000 epochs");
}

TEST(BadConfig, ThousandsOfErrorsAreCounted) {
  std::string text = "[train]\n";
  for (int i = 0; i < 10000; ++i) text += fmt::format("key{} = 1\n", i);
  const std::string message = errors_of(text);
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 50);
  EXPECT_THAT(message, HasSubstr("... and 9950 more"));
}

TEST(BadConfig, KeysNestedDeeplyEnoughToOverflowAStackAreRefused) {
  std::string dotted;
  for (int i = 0; i < 300000; ++i) dotted += "a.";
  EXPECT_THAT(errors_of(dotted + "a = 1\n"), HasSubstr("more than 10000 dots"));
  dotted.resize(2 * 9000);
  EXPECT_EQ(errors_of(dotted + "a = 1\n"),
            "bad.toml:1:1: a: unknown table; see --help-config for all tables");
}

TEST(BadConfig, LongAndUnprintableTextsAreShortenedInMessages) {
  EXPECT_LT(errors_of(fmt::format("run.device = \"{}\"\n", std::string(100000, 'x'))).size(), 300U);
  EXPECT_LT(errors_of(fmt::format("\"{}\" = 1\n", std::string(100000, 'x'))).size(), 300U);
  EXPECT_THAT(errors_of("run.device = \"\\u001b[31m\"\n"), HasSubstr("\\x1b[31m"));
  // The message has room for 80 bytes. After 79 characters of one byte follows one of three bytes,
  // which is left out as a whole.
  EXPECT_THAT(errors_of(fmt::format("run.device = \"{}\u4e2d\u4e2d\"\n", std::string(79, 'x'))),
              HasSubstr(std::string(79, 'x') + "...'"));
}

}  // namespace
}  // namespace traffic::config
