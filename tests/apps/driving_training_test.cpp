/// Trains the driving policy as users do.
#include <hdf5.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "driving/crossing.h"
#include "support/run_folder_test.h"
#include "traffic/data/scene_file.h"

namespace traffic::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class DrivingTraining : public RunFolderTest {
 protected:
  void SetUp() override {
    RunFolderTest::SetUp();
    scenes_ = (dir_ / "crossing.h5").string();
    data::SceneFileInfo info;
    info.scenario = "crossing";
    data::SceneWriter writer(scenes_, info);
    for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
      writer.add(driving::testing::crossing_scene(seed),
                 {.split = seed == 4 ? data::Split::kValidation : data::Split::kTrain});
    }
    writer.add(driving::testing::crossing_scene(5), {.split = data::Split::kTest});
    writer.finish();
  }

  /// The command of a training of two epochs with a validation after each. Later arguments override
  /// earlier ones.
  [[nodiscard]] std::string command(int ranks, const std::string& run,
                                    const std::string& arguments = "",
                                    const std::string& environment = "X=1") const {
    return command_of({.ranks = ranks,
                       .config = "driving.toml",
                       .run = run,
                       .arguments = "--set 'data.files=[\"" + scenes_ +
                                    "\"]' --set data.batch_size=64 " + arguments,
                       .environment = environment});
  }

  void refused(const std::string& arguments, int code, const std::string& text) const {
    const Outcome outcome = run_program(command(1, "refused", arguments));
    EXPECT_EQ(outcome.exit_code, code) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr(text));
  }

  /// A copy of the scenes.
  [[nodiscard]] std::string copy(const std::string& name) const {
    const fs::path path = dir_ / name;
    fs::copy_file(scenes_, path);
    return path.string();
  }

  std::string scenes_;
};

TEST_F(DrivingTraining, KilledAndResumedItEndsWithTheSameBits) {
  for (const int ranks : {1, 2}) {
    for (const std::string head : {"diffusion", "regression"}) {
      const std::string kind = head + std::to_string(ranks);
      const std::string size = "--set driving.head=" + head;
      ASSERT_EQ(run_program(command(ranks, "whole" + kind, size)).exit_code, 0);
      const std::string last = std::to_string(ranks - 1);
      for (const std::string& place : {last + ":2", std::string("0:17")}) {
        const Outcome killed = run_program(
            command(ranks, "cut" + kind, size, "TRAFFIC_FAULT=train.step:" + place + ":kill"));
        ASSERT_NE(killed.exit_code, 0) << killed.output;
      }
      const Outcome resumed = run_program(command(ranks, "cut" + kind, size));
      ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
      EXPECT_THAT(resumed.output, HasSubstr("going on from checkpoint"));
      // The hash covers the weights of the last step. Validation and the final table use the mean
      // of the weights over several steps.
      EXPECT_EQ(summary("whole" + kind)["parameters_xxh3"],
                summary("cut" + kind)["parameters_xxh3"]);
      EXPECT_EQ(summary("whole" + kind)["result"], summary("cut" + kind)["result"]);
      EXPECT_GT(figures_of_learning("whole" + kind).size(), 2U);
      EXPECT_EQ(figures_of_learning("whole" + kind), figures_of_learning("cut" + kind));
    }
  }
}

TEST_F(DrivingTraining, ReportsTheLearningRateScaledByTheNumberOfRanks) {
  const std::string rate = "--dry-run --set train.learning_rate=5e-5 --set train.lr_scaling=";
  for (const auto& [ranks, linear, root] :
       {std::tuple{1, "5e-05", "5e-05"}, {2, "0.0001", "7.07e-05"}, {4, "0.0002", "0.0001"}}) {
    for (const auto& [scaling, wanted] : {std::pair{"linear", linear}, {"sqrt", root}}) {
      const Outcome outcome = run_program(command(ranks, "dry", rate + scaling));
      ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
      EXPECT_THAT(outcome.output, HasSubstr(std::string("learning rate ") + wanted));
    }
  }
}

TEST_F(DrivingTraining, BadInputIsRefusedWithItsExitCode) {
  refused("--set 'data.files=[\"/none/*.h5\"]'", 3, "/none/*.h5");
  refused("--set driving.head=cubist", 2, "expected one of regression, diffusion, vocabulary");
  refused("--set driving.validation_files='[\"/none.h5\"]'", 3, "/none.h5");
  {
    const std::string mapless = copy("mapless.h5");
    const hid_t file = H5Fopen(mapless.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    ASSERT_GE(H5Ldelete(file, "maps", H5P_DEFAULT), 0);
    H5Fclose(file);
    refused("--set 'data.files=[\"" + mapless + "\"]'", 3, "maps");
  }
  {
    const std::string stray = copy("stray.h5");
    const hid_t file = H5Fopen(stray.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t edges = H5Dopen2(file, "routes/edge", H5P_DEFAULT);
    const hid_t space = H5Dget_space(edges);
    std::vector<std::int32_t> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
    ASSERT_GE(H5Dread(edges, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    values.at(3) = 4711;
    ASSERT_GE(H5Dwrite(edges, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    H5Sclose(space);
    H5Dclose(edges);
    H5Fclose(file);
    refused("--set 'data.files=[\"" + stray + "\"]'", 3, "4711");
  }
}

TEST_F(DrivingTraining, ACheckpointOfAnotherRasterIsRefused) {
  ASSERT_EQ(run_program(command(1, "small", "--set train.max_steps=2")).exit_code, 0);
  refused("--set driving.raster=full --set run.init_from=" + best("small"), 4, "raster small");
  const Outcome same = run_program(
      command(1, "same", "--set train.max_steps=2 --set run.init_from=" + best("small")));
  EXPECT_EQ(same.exit_code, 0) << same.output;
}

TEST_F(DrivingTraining, DriversThatDoNotFitAreRefused) {
  const auto eval = [](const std::string& arguments) {
    return run_program(TRAFFIC_BIN_DIR "/traffic_eval --seeds 1 " + arguments);
  };
  const Outcome missing = eval("--scenario town --driver checkpoint:/none.h5");
  EXPECT_EQ(missing.exit_code, 4) << missing.output;
  EXPECT_THAT(missing.output, HasSubstr("/none.h5"));
  const Outcome two_games = eval("--driver idm --against beam");
  EXPECT_EQ(two_games.exit_code, 2) << two_games.output;
  EXPECT_THAT(two_games.output, HasSubstr("excludes"));
  const Outcome data = eval("--scenario town --driver checkpoint:" + scenes_);
  EXPECT_EQ(data.exit_code, 4) << data.output;
  const fs::path net = dir_ / "walk.net.xml";
  ASSERT_EQ(
      run_program(TRAFFIC_NETGENERATE " --grid --grid.number 2 --default.disallow passenger -o " +
                  net.string())
          .exit_code,
      0);
  std::ofstream(dir_ / "walk.sumocfg")
      << "<configuration><input><net-file value=\"walk.net.xml\"/></input></configuration>\n";
  const Outcome nowhere = eval("--driver idm --scenario " + (dir_ / "walk.sumocfg").string());
  EXPECT_EQ(nowhere.exit_code, 3) << nowhere.output;
  EXPECT_THAT(nowhere.output, HasSubstr("lane"));
}

TEST_F(DrivingTraining, TheConfigurationOfAComparisonOfDriversIsPrinted) {
  const Outcome printed = run_program(
      TRAFFIC_BIN_DIR "/traffic_eval --driver idm --scenario lights_town --print-config");
  EXPECT_EQ(printed.exit_code, 0) << printed.output;
  EXPECT_THAT(printed.output, HasSubstr("scenario = \"lights_town\"\n"));
}

/// All steps of the guide at a small size: record a town, train, drive, and learn from corrections.
TEST_F(DrivingTraining, APolicyLearnsInATownAndDrivesThereAndElsewhere) {
  const auto record = [this](const std::string& town, int seconds) {
    const Outcome outcome =
        run_program(TRAFFIC_BIN_DIR "/data_prep record --scenes --scenario " + town +
                    " --episodes 1 --seeds 7 --jobs 1 --split 1,0,0 --set env.max_time_s=" +
                    std::to_string(seconds) + " --out " + (dir_ / town).string());
    ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  };
  record("drive_town_1", 100);
  record("drive_town_6", 70);
  const std::string settings =
      "--set driving.width=96 --set driving.hidden_dim=256 --set data.batch_size=32 --set "
      "driving.validation_samples=600 --set checkpoint.save_interval_steps=0 --set "
      "'driving.validation_files=[\"" +
      (dir_ / "drive_town_6/*.h5").string() + "\"]' ";
  const std::string recorded = '"' + (dir_ / "drive_town_1/*.h5").string() + '"';
  const Outcome trained = run_program(command(
      2, "run", settings + "--set train.max_steps=250 --set 'data.files=[" + recorded + "]'"));
  ASSERT_EQ(trained.exit_code, 0) << trained.output;
  EXPECT_THAT(trained.output, HasSubstr("constant turn rate and acceleration"));
  const auto result = summary("run")["result"];
  EXPECT_LT(result["l2_3s_m"], 3.5) << "the error of constant velocity is more than 4 m";
  const Outcome driven = run_program(
      TRAFFIC_BIN_DIR "/traffic_eval --driver constant_velocity --driver checkpoint:" +
      best("run") +
      " --scenario drive_town_6 --seeds 3 --egos 8 --drive-for 20 --json --corrections " +
      (dir_ / "corrections").string());
  ASSERT_EQ(driven.exit_code, 0) << driven.output;
  const auto json =
      nlohmann::json::parse(driven.output.substr(driven.output.find('{')), nullptr, false);
  ASSERT_EQ(json["drivers"].size(), 3U);
  EXPECT_GT(json["drivers"][2]["score"], json["drivers"][1]["score"])
      << "a policy trained for half a minute must drive better than one that drives straight on";
  const Outcome corrected =
      run_program(command(1, "corrected",
                          settings + "--set train.max_steps=5 --set run.init_from=" + best("run") +
                              " --set 'data.files=[" + recorded + ", \"" +
                              (dir_ / "corrections/*.h5").string() + "\"]'"));
  ASSERT_EQ(corrected.exit_code, 0) << corrected.output;
  EXPECT_THAT(corrected.output, HasSubstr(" of them corrections"));
  EXPECT_THAT(corrected.output, Not(HasSubstr(" 0 of them corrections")));
}

}  // namespace
}  // namespace traffic::test
