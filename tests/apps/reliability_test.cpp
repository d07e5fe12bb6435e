/// Runs trainings of phase 1 with faults: disks that fail, are slow or hang, slow ranks, non-finite
/// numbers, clocks that jump, and errors while another error is reported.
#include <sys/wait.h>

#include <csignal>

#include "traffic/checkpoint/file.h"
#include "traffic/core/atomic_file.h"
#include "train_fixture.h"

namespace traffic::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kStepTimeout_s = 90;  // the start of a run can take more than 30 s beside other tests
const std::string kSaving = "--set checkpoint.save_interval_steps=2 ";

class ReliabilityTest : public TrainTest {
 protected:
  /// Environment in which calls of the C library fail in every process of the job.
  static std::string failing(const std::string& what) {
    return "LD_PRELOAD=" TRAFFIC_BIN_DIR "/../lib/libtraffic_fail_io.so TRAFFIC_FAIL_IO=" + what;
  }
  [[nodiscard]] bool is_there(const std::string& path) const { return fs::exists(dir_ / path); }
  [[nodiscard]] std::string text(const std::string& path) const {
    std::ifstream in(dir_ / path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  [[nodiscard]] checkpoint::Snapshot saved(const std::string& path) const {
    return checkpoint::load(dir_ / path);
  }
  void expect_bits_of_an_uninterrupted_run(const std::string& run, const std::string& arguments) {
    ASSERT_EQ(run_program(command(2, "whole", arguments)).exit_code, 0);
    EXPECT_EQ(summary(run)["parameters_xxh3"], summary("whole")["parameters_xxh3"]);
    EXPECT_EQ(summary(run)["result"], summary("whole")["result"]);
  }
};

TEST_F(ReliabilityTest, AFailedSaveLosesNothingNotEvenTheBest) {
  // Saving the first best step fails, and so does a second try before the next step. Then the disk
  // has room again.
  const std::string arguments = kSaving + "--set train.max_steps=36 --set train.epochs=20 ";
  const Outcome outcome =
      run_program(command(2, "run", arguments, failing("write:-best.h5:1:28:2")));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("could not be saved: cannot write"));
  EXPECT_EQ(summary("run")["faults"]["failed_saves"], 2);
  expect_bits_of_an_uninterrupted_run("run", arguments);
  EXPECT_EQ(saved("run/checkpoints/phase1.h5").step(), saved("whole/checkpoints/phase1.h5").step());
}

TEST_F(ReliabilityTest, RepeatedlyFailingSavesEndTheRunWith8AndTheCause) {
  const Outcome outcome = run_program(command(2, "run", kSaving + "--set run.max_retries=0",
                                              "TRAFFIC_FAULT=checkpoint.save:0:*:fail"));
  EXPECT_EQ(outcome.exit_code, 8) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("3 checkpoints in a row"), HasSubstr("No space")));
  EXPECT_EQ(summary("run")["status"], "failed");
}

TEST_F(ReliabilityTest, TrainingContinuesDuringASaveAndAStopWaitsForIt) {
  const std::string seldom = "--set checkpoint.save_interval_steps=6 ";
  BackgroundProgram program(command(
      2, "cut", seldom, "TRAFFIC_FAULT=checkpoint.save:0:6:slow:4000,train.step:0:*:slow:150"));
  ASSERT_TRUE(wait_for_step("cut", 8, kStepTimeout_s));
  EXPECT_FALSE(is_there("cut/checkpoints/step-000000006.h5"))
      << "the save must still run while the training makes two more steps";
  program.send(SIGUSR1);
  ASSERT_EQ(program.wait(), 75);
  EXPECT_TRUE(is_there("cut/checkpoints/step-000000006.h5"));
  const std::int64_t step = summary("cut")["steps"];
  EXPECT_GE(step, 8);
  ASSERT_EQ(run_program(command(2, "cut", seldom)).exit_code, 0);
  expect_bits_of_an_uninterrupted_run("cut", seldom);
}

TEST_F(ReliabilityTest, KilledDuringASaveTheRunContinuesFromTheSaveBefore) {
  const Outcome killed =
      run_program(command(2, "cut", kSaving, "TRAFFIC_FAULT=checkpoint.save:0:8:kill"));
  ASSERT_NE(killed.exit_code, 0);
  EXPECT_FALSE(is_there("cut/checkpoints/step-000000008.h5"));
  const Outcome resumed = run_program(command(2, "cut", kSaving));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_THAT(resumed.output, HasSubstr("step-000000006.h5"));
  expect_bits_of_an_uninterrupted_run("cut", kSaving);
}

TEST_F(ReliabilityTest, ADiskThatHangsEndsTheRunWith7AtTheNextSave) {
  const Outcome hung =
      run_program(command(2, "cut", kSaving + "--set comm.timeout_s=6 --set comm.init_timeout_s=6",
                          "TRAFFIC_FAULT=checkpoint.save:0:6:hang"));
  EXPECT_EQ(hung.exit_code, 7) << hung.output;
  EXPECT_THAT(hung.output, HasSubstr("rank 0"));
  const Outcome resumed = run_program(command(2, "cut", kSaving));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  expect_bits_of_an_uninterrupted_run("cut", kSaving);
}

TEST_F(ReliabilityTest, AStopWhoseSaveFailsEndsAsAnError) {
  BackgroundProgram program(
      command(2, "run", "--set run.max_retries=0",
              "TRAFFIC_FAULT=checkpoint.save:0:*:fail,train.step:0:*:slow:200"));
  ASSERT_TRUE(wait_for_step("run", 3, kStepTimeout_s));
  program.send(SIGUSR1);
  EXPECT_EQ(program.wait(), 8);
  EXPECT_EQ(summary("run")["status"], "failed");
}

TEST_F(ReliabilityTest, ASecondErrorDoesNotHideTheFirst) {
  const Outcome outcome = run_program(
      command(2, "run", "--set run.max_retries=0",
              failing("rename:/summary.json:1:28:1000") + " TRAFFIC_FAULT=train.step:1:*:nan"));
  EXPECT_EQ(outcome.exit_code, 5) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("updates in a row"),
                                    HasSubstr("the summary of the failure could not be written")));
}

TEST_F(ReliabilityTest, ResumeMustRefusesToStartANewRun) {
  const Outcome refused = run_program(command(2, "run", kSaving + "--resume must"));
  EXPECT_EQ(refused.exit_code, 4) << refused.output;
  EXPECT_THAT(refused.output, AllOf(HasSubstr("run.resume is \"must\""), HasSubstr("/run")));
  EXPECT_FALSE(is_there("run"));
  ASSERT_NE(run_program(command(2, "run", kSaving, "TRAFFIC_FAULT=train.step:0:5:kill")).exit_code,
            0);
  const Outcome resumed = run_program(command(2, "run", kSaving + "--resume must"));
  EXPECT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_THAT(resumed.output, HasSubstr("going on from checkpoint"));
}

TEST_F(ReliabilityTest, CheckpointsNameTheirRunAndTheirProgram) {
  const std::string killed = "TRAFFIC_FAULT=train.step:0:4:slow:1000,train.step:0:5:kill";
  ASSERT_NE(run_program(command(2, "run", kSaving, killed)).exit_code, 0);
  const std::string id = saved("run/checkpoints/step-000000004.h5").text("run/id");
  EXPECT_EQ(id.size(), 16U);
  const Outcome resumed = run_program(command(1, "run", kSaving));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_THAT(resumed.output, AllOf(HasSubstr("belongs to run " + id),
                                    HasSubstr("saved by 2 ranks, this run has 1")));
  const checkpoint::Snapshot result = saved("run/checkpoints/phase1.h5");
  EXPECT_EQ(result.text("run/id"), id) << "a resumed run must keep its id";
  EXPECT_EQ(result.integer("run/world_size"), 1);
  EXPECT_THAT(result.text("run/program"), HasSubstr("traffic_train "));
  EXPECT_THAT(result.text("run/libraries"), AllOf(HasSubstr("torch "), HasSubstr("HDF5 ")));
  EXPECT_EQ(result.text("run/started_from"), "");

  const std::string from = (dir_ / "run/checkpoints/phase1.h5").string();
  ASSERT_EQ(run_program(command(1, "next", "--set run.init_from=" + from)).exit_code, 0);
  const checkpoint::Snapshot next = saved("next/checkpoints/phase1.h5");
  EXPECT_NE(next.text("run/id"), id);
  EXPECT_EQ(next.text("run/started_from").size(), 16U);
}

TEST_F(ReliabilityTest, AfterNonFiniteNumbersItReturnsAndHalvesTheRate) {
  std::string faults = "TRAFFIC_FAULT=";
  for (int step = 4; step < 14; ++step) {
    faults += "train.step:1:" + std::to_string(step) + ":nan" + (step < 13 ? "," : "");
  }
  const std::string longer = kSaving + "--set train.max_steps=16 --set train.epochs=20 ";
  const Outcome outcome = run_program(command(2, "run", longer, faults));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("updates in a row"), HasSubstr("uses half the learning rates")));
  EXPECT_EQ(summary("run")["faults"]["retries"], 1);
  const auto rate_in = [&](const std::string& config) {
    return std::stod(config.substr(config.find("learning_rate = ") + 16));
  };
  const double asked = rate_in(text("run/config.toml"));
  EXPECT_EQ(rate_in(saved("run/checkpoints/step-000000016.h5").text("config")), asked / 2);
}

TEST_F(ReliabilityTest, ANonFiniteValidationReturnsToACheckpoint) {
  const std::string longer = kSaving + "--set train.max_steps=16 --set train.epochs=20 ";
  const Outcome outcome =
      run_program(command(2, "run", longer, "TRAFFIC_FAULT=train.validate:*:1:nan"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("the loss on the validation episodes is nan"),
                                    HasSubstr("uses half the learning rates")));
  EXPECT_EQ(summary("run")["faults"]["retries"], 1);
  const Outcome always =
      run_program(command(2, "always", longer + "--set run.max_retries=1 --set train.max_steps=4",
                          "TRAFFIC_FAULT=train.validate:*:*:nan"));
  EXPECT_EQ(always.exit_code, 5) << always.output;
}

TEST_F(ReliabilityTest, ASpikeOfTheLossIsLoggedCountedAndTheBestIsKept) {
  const std::string longer =
      "--set train.max_steps=60 --set train.epochs=20 --set train.stage1_share=0 ";
  const Outcome outcome =
      run_program(command(2, "run", longer, "TRAFFIC_FAULT=train.step:*:30:huge"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("step 31: the loss has jumped to "),
                                    HasSubstr(" from a median of "), HasSubstr("best checkpoint")));
  EXPECT_GE(summary("run")["faults"]["loss_spikes"], 1);
  EXPECT_TRUE(is_there("run/checkpoints/best.h5"));
}

TEST_F(ReliabilityTest, AClockThatJumpsByDaysChangesNothing) {
  const std::string jumping = failing("clock:/:1:0:1");
  const Outcome outcome =
      run_program(command(2, "run", kSaving + "--set checkpoint.save_interval_s=3600", jumping));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  expect_bits_of_an_uninterrupted_run("run", kSaving);
}

TEST_F(ReliabilityTest, UnfinishedFilesOfKilledRunsAreRemovedByTheNext) {
  std::vector<fs::path> left;
  for (const char* file : {"run/config.toml", "run/checkpoints/best.h5", "run/weights/README.md"}) {
    fs::create_directories((dir_ / file).parent_path());
    const pid_t child = fork_child();
    if (child == 0) {
      const AtomicFile unfinished(dir_ / file);
      std::ofstream(unfinished.temp_path()).put('x');
      _exit(0);  // no destructors, as when killed
    }
    waitpid(child, nullptr, 0);
    for (const auto& entry : fs::directory_iterator((dir_ / file).parent_path())) {
      if (entry.path().filename().string().starts_with(".tmp-")) left.push_back(entry.path());
    }
  }
  ASSERT_EQ(left.size(), 3U);
  ASSERT_EQ(run_program(command(1, "run")).exit_code, 0);
  for (const fs::path& path : left) EXPECT_FALSE(fs::exists(path)) << path;
}

TEST_F(ReliabilityTest, ASlowRankIsNamedAndTheResultIsTheSame) {
  const std::string longer = "--set train.max_steps=45 --set train.epochs=20 ";
  const Outcome outcome =
      run_program(command(2, "run", longer, "TRAFFIC_FAULT=train.step:1:*:slow:150"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("is slower than the others"));
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("rank 1 on "), Not(HasSubstr("rank 0 on "))));
  EXPECT_GE(summary("run")["faults"]["straggler_findings"], 1);
  expect_bits_of_an_uninterrupted_run("run", longer);
}

}  // namespace
}  // namespace traffic::test
