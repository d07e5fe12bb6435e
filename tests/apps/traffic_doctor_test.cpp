/// traffic_doctor as users start it, with real ranks and simulations.
#include "support/run_folder_test.h"

namespace traffic::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class DoctorTest : public RunFolderTest {
 protected:
  [[nodiscard]] Outcome examine(int ranks, const std::string& arguments,
                                const std::string& environment = "") const {
    return run_program("env " + environment + " " TRAFFIC_SOURCE_DIR "/launch/mpirun.sh -np " +
                       std::to_string(ranks) +
                       " " TRAFFIC_BIN_DIR
                       "/traffic_doctor --set rollout.workers=1 --set rollout.envs_per_worker=2 "
                       "--set run.dir=" +
                       (dir_ / "run").string() + " " + arguments);
  }
};

TEST_F(DoctorTest, FindsWhatARunNeedsAndLeavesNothingBehind) {
  const Outcome outcome = examine(2, "", "NCCL_DEBUG=WARN");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("LibTorch"), HasSubstr(dir_.string() + " is writable"),
                    HasSubstr("for 2 ranks and 2 simulations"), HasSubstr("NCCL_DEBUG = WARN"),
                    HasSubstr("processors in the last minute"), HasSubstr("of swap in use"),
                    HasSubstr("ranks 0, 1: run.device"), HasSubstr("MPI between 2 ranks on 1 node"),
                    HasSubstr("2 simulations of merge were ready after"), HasSubstr("0 failed")));
  EXPECT_TRUE(fs::is_empty(dir_));
}

TEST_F(DoctorTest, WorksWithoutMpirunAndPrintsJson) {
  const Outcome outcome = run_program(TRAFFIC_BIN_DIR
                                      "/traffic_doctor --json --set rollout.workers=1 "
                                      "--set rollout.envs_per_worker=1 --set run.dir=" +
                                      (dir_ / "run").string());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  const auto json = nlohmann::json::parse(outcome.output, nullptr, false);
  ASSERT_TRUE(json.is_array()) << outcome.output;
  for (const auto& finding : json) EXPECT_NE(finding["verdict"], "FAILED") << finding;
}

TEST_F(DoctorTest, ContinuesAfterAFailureAndEndsWithItsCode) {
  const Outcome outcome = examine(2, "--set run.device=cuda", "CUDA_VISIBLE_DEVICES=");
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("FAILED   device"), HasSubstr("1 failed"), HasSubstr("ready after")));
#ifdef TRAFFIC_CUDA
  EXPECT_EQ(outcome.exit_code, 8) << outcome.output;
#else
  EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
#endif
}

TEST_F(DoctorTest, NamesAMissingScenario) {
  const Outcome outcome = examine(2, "--set env.scenario=merj");
  EXPECT_EQ(outcome.exit_code, 3) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("FAILED   simulations"), HasSubstr("merj")));
}

TEST_F(DoctorTest, SaysThatSimulationsDoNotStart) {
  std::ofstream(dir_ / "broken.sumocfg") << "<configuration><input><net-file value=\"no.net.xml\"/>"
                                            "</input></configuration>";
  const Outcome outcome = examine(
      2, "--set rollout.max_restarts=1 --set env.scenario=" + (dir_ / "broken.sumocfg").string());
  EXPECT_EQ(outcome.exit_code, 6) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("FAILED   simulations"), HasSubstr("no.net.xml")));
}

TEST_F(DoctorTest, ChecksAScenarioWithoutAConfiguration) {
  const Outcome outcome =
      run_program(TRAFFIC_BIN_DIR "/traffic_doctor --scenario merge --set env.max_time_s=120");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  for (const char* part :
       {"1 conflict: ", "ramp gives way or ends", "types hv 75 %, cv 25 %", "routes main 79 %",
        "varies with the seed", "120 s from 0 s in steps of 1 s, no teleports", "0 lights",
        "1 approach giving way or ending", "without control took", "0 warnings, 0 failed"}) {
    EXPECT_THAT(outcome.output, HasSubstr(part));
  }
  EXPECT_THAT(outcome.output, Not(HasSubstr("LibTorch")));
}

TEST_F(DoctorTest, SaysWhatMakesAScenarioUseless) {
  const Outcome outcome = run_program(
      TRAFFIC_BIN_DIR
      "/traffic_doctor --scenario merge --set 'env.cv_types=[\"truck\"]' --set env.max_time_s=120");
  EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
  EXPECT_THAT(outcome.output,
              HasSubstr("FAILED   env.cv_types   no vehicle is of type 'truck'; types are hv 75 %, "
                        "cv 25 %: set env.cv_types = [\"cv\"]"));
}

TEST_F(DoctorTest, WithoutConnectedVehiclesItSuggestsTheLights) {
  const std::string look = TRAFFIC_BIN_DIR
      "/traffic_doctor --scenario lights_grid --set 'env.cv_types=[\"truck\"]' "
      "--set env.max_time_s=120 ";
  const Outcome outcome = run_program(look);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("warning  env.cv_types"), HasSubstr("env.cv_types = [\"cv\"]"),
                    HasSubstr("ok       signals"), HasSubstr("configs/any.toml"),
                    HasSubstr("docs/guide/traffic-lights.md"), HasSubstr("without control took"),
                    HasSubstr("0 failed")));
  const Outcome both =
      run_program(TRAFFIC_BIN_DIR "/traffic_doctor --scenario arterial --set env.max_time_s=120");
  EXPECT_EQ(both.exit_code, 0) << both.output;
  EXPECT_THAT(both.output, AllOf(HasSubstr("ok       signals"), HasSubstr("configs/joint.toml")));
  // If env.agents names only vehicles, the doctor says why they cannot act, and suggests the lights
  // instead.
  const Outcome vehicles = run_program(look + "--set 'env.agents=[\"vehicles\"]'");
  EXPECT_EQ(vehicles.exit_code, 2) << vehicles.output;
  EXPECT_THAT(vehicles.output,
              AllOf(HasSubstr("FAILED   env.cv_types"), HasSubstr("env.agents = [\"lights\"]")));
}

TEST_F(DoctorTest, DrawsNoConclusionsFromTrafficWithoutVehicles) {
  const Outcome outcome =
      run_program(TRAFFIC_BIN_DIR "/traffic_doctor --scenario lights_grid --set env.max_time_s=1");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("no vehicle has entered in that time"));
  EXPECT_THAT(outcome.output, Not(HasSubstr("saturated")));
}

TEST_F(DoctorTest, SaysWhereARunCouldNotBeWritten) {
  std::ofstream(dir_ / "run") << "a file";
  const Outcome outcome = examine(1, "--set run.dir=" + (dir_ / "run" / "below").string());
  EXPECT_EQ(outcome.exit_code, 8) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("FAILED   run folder"));
}

TEST_F(DoctorTest, WarnsOfSettingsThatDoNotReachEveryRank) {
  const Outcome outcome = run_program(
      "env " TRAFFIC_SOURCE_DIR "/launch/mpirun.sh -np 1 -x NCCL_P2P_DISABLE=1 " TRAFFIC_BIN_DIR
      "/traffic_doctor --set rollout.workers=1 : -np 1 " TRAFFIC_BIN_DIR
      "/traffic_doctor --set rollout.workers=1");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("warning  settings       NCCL_P2P_DISABLE: 1 on rank 0, "
                              "not set on rank 1"),
                    HasSubstr("mpirun -x NCCL_P2P_DISABLE")));
}

TEST_F(DoctorTest, ChecksTheNeedsOfTheTrainings) {
  const std::string shared =
      "/traffic_doctor --set rollout.workers=1 --set run.dir=" + (dir_ / "run").string();
  const Outcome first = run_program(TRAFFIC_BIN_DIR + shared + " --phase 1 --set data.files='[\"" +
                                    dir_.string() + "/*.h5\"]'");
  EXPECT_EQ(first.exit_code, 3) << first.output;
  EXPECT_THAT(first.output, AllOf(HasSubstr("FAILED   data"), HasSubstr("NUMA node"),
                                  Not(HasSubstr("ready after")), Not(HasSubstr("scenario "))));
  const Outcome recorded = run_program(TRAFFIC_BIN_DIR "/data_prep record --scenario merge --out " +
                                       dir_.string() + " --episodes 3 --steps 100 --seeds 1");
  ASSERT_EQ(recorded.exit_code, 0) << recorded.output;
  const Outcome with_data = run_program(
      TRAFFIC_BIN_DIR + shared + " --phase 1 --set data.files='[\"" + dir_.string() + "/*.h5\"]'");
  EXPECT_THAT(with_data.output,
              AllOf(HasSubstr("files, samples: "), HasSubstr("all ranks together read")));
  const Outcome second = run_program(TRAFFIC_BIN_DIR + shared + " --phase 2");
  EXPECT_EQ(second.exit_code, 0) << second.output;
  EXPECT_THAT(second.output, AllOf(HasSubstr("ready after"), Not(HasSubstr("samples: "))));
}

}  // namespace
}  // namespace traffic::test
