#include "traffic/config/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "config/help.h"
#include "traffic/core/error.h"

namespace traffic::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::variant<CommonOptions, ExitRequest> parse(std::vector<const char*> arguments,
                                               Program program = {"traffic_train", "Trains."}) {
  arguments.insert(arguments.begin(), "traffic_train");
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data(), program);
}

CommonOptions options_of(std::vector<const char*> arguments) {
  return std::get<CommonOptions>(parse(std::move(arguments)));
}

std::string text_of(std::vector<const char*> arguments) {
  return std::get<ExitRequest>(parse(std::move(arguments))).text;
}

std::string error_of(std::vector<const char*> arguments) {
  try {
    resolve(options_of(std::move(arguments)));
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.code(), ExitCode::kConfig);
    return error.what();
  }
  return "no error";
}

TEST(CommandLine, WithoutArgumentsGivesTheDefaults) {
  const CommonOptions options = options_of({});
  EXPECT_EQ(options.config_path, "");
  EXPECT_FALSE(options.dry_run || options.print_config);
  EXPECT_EQ(resolve(options).train.epochs, Config{}.train.epochs);
}

TEST(CommandLine, ReadsEveryOptionInAnyOrder) {
  const CommonOptions options =
      options_of({"--set", "train.epochs=7", "configs/phase1.toml", "--run-dir", "out dir",
                  "--seed=5", "--set", "data.files=[\"a.h5\",\"b.h5\"]", "--preset", "test",
                  "--resume", "never", "--phase", "1", "--dry-run", "--print-config"});
  EXPECT_EQ(options.config_path, "configs/phase1.toml");
  EXPECT_TRUE(options.dry_run);
  EXPECT_TRUE(options.print_config);
  const Config config = load_config("", options.overrides);
  EXPECT_EQ(config.train.epochs, 7);
  EXPECT_EQ(config.model.hidden_dim, 64);
  EXPECT_EQ(config.run.dir, "out dir");
  EXPECT_EQ(config.run.seed, 5);
  EXPECT_EQ(config.run.resume, "never");
  EXPECT_THAT(config.data.files, ElementsAre("a.h5", "b.h5"));
}

TEST(CommandLine, AnOptionForAKeyWinsOverSet) {
  EXPECT_EQ(resolve(options_of({"--seed", "5", "--set", "run.seed=6"})).run.seed, 5);
}

TEST(CommandLine, ErrorsNameTheOption) {
  EXPECT_EQ(error_of({"--seed", "-1"}), "--seed: run.seed: found -1, expected >= 0");
  EXPECT_THAT(error_of({"--seed", "many"}), HasSubstr("--seed: run.seed: found 'many'"));
  EXPECT_THAT(error_of({"--phase", "9"}), HasSubstr("--phase: run.phase: found '9'"));
  EXPECT_THAT(error_of({"--preset", "tests"}), HasSubstr("did you mean 'test'?"));
  EXPECT_THAT(error_of({"--set", "nonsense"}), HasSubstr("expected key=value"));
  EXPECT_THAT(error_of({"--sed", "5"}), HasSubstr("--sed"));
  EXPECT_THAT(error_of({"--seed"}), HasSubstr("--seed"));
  EXPECT_THAT(error_of({"a.toml", "b.toml"}), HasSubstr("b.toml"));
  EXPECT_THAT(error_of({"no/such.toml"}), HasSubstr("no/such.toml: no such file"));
  EXPECT_THAT(error_of({"--help-config=ppo.gama"}),
              AllOf(HasSubstr("no table, key or explanation contains 'ppo.gama'"),
                    HasSubstr("did you mean 'ppo.gamma'?")));
  EXPECT_THAT(error_of({"--sed", "5"}), HasSubstr("see traffic_train --help"));
}

TEST(CommandLine, HelpVersionAndReferenceEndTheProgram) {
  EXPECT_THAT(text_of({"--help"}), HasSubstr("--run-dir"));
  EXPECT_THAT(text_of({"--version"}), ::testing::ContainsRegex("^traffic_train [0-9]+\\.[0-9]+"));
  EXPECT_EQ(text_of({"--help-config"}), help_text("", 80));
  EXPECT_EQ(text_of({"--help-config", "train"}), help_text("train", 80));
  EXPECT_EQ(text_of({"configs/phase1.toml", "--help-config"}), help_text("", 80));
  EXPECT_EQ(text_of({"--help-config=markdown"}), help_markdown());
  EXPECT_THAT(text_of({"--help"}), Not(HasSubstr("{text}")));
}

TEST(CommandLine, AProgramAddsOptionsOfItsOwn) {
  std::vector<std::string> controllers;
  Program program{"traffic_eval", "Evaluates."};
  program.add_options = [&](CLI::App& app) { app.add_option("--controller", controllers); };
  parse({"--controller", "none", "--controller", "meter", "--seed", "3"}, program);
  EXPECT_THAT(controllers, ElementsAre("none", "meter"));
}

TEST(CommandLine, AProgramThatDoesNotTrainRefusesOptionsOfTrainings) {
  const Program program{.name = "traffic_eval", .description = "Evaluates.", .trains = false};
  EXPECT_NO_THROW(parse({"--set", "env.scenario=corridor", "--preset", "test"}, program));
  EXPECT_THROW(parse({"--dry-run"}, program), ConfigError);
  EXPECT_THROW(parse({"--phase", "2"}, program), ConfigError);
}

}  // namespace
}  // namespace traffic::config
