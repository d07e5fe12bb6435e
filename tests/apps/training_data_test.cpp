/// Tests how traffic_train uses its data: shares of the ranks, batch sizes, and files that are
/// damaged or change.
#include <fcntl.h>
#include <sys/file.h>

#include "traffic/checkpoint/file.h"
#include "traffic/data/sampler.h"
#include "train_fixture.h"

namespace traffic::test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

data::SamplerState sampler_of(const checkpoint::Snapshot& snapshot) {
  const at::Tensor& numbers = snapshot.tensor("sampler");
  return data::SamplerState::decode(
      {numbers.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(numbers.numel())});
}

using TrainingData = TrainTest;

TEST_F(TrainingData, RecordedEvaluationSeedsAreNamed) {
  // The data set has the seeds 0 to 4 of the scenario "row".
  const std::string options = "--dry-run --set env.scenario=row --set evaluation.seeds=";
  const Outcome overlap = run_program(command(1, "a", options + "3..9"));
  EXPECT_EQ(overlap.exit_code, 0) << overlap.output;
  EXPECT_THAT(overlap.output,
              HasSubstr("2 of 7 seeds of evaluation.seeds are recorded in data.files, "
                        "too (scenario row, the first is 3)"));
  EXPECT_THAT(run_program(command(1, "b", options + "5..9")).output, Not(HasSubstr("recorded in")));
  EXPECT_THAT(run_program(command(1, "c", options + "3..9 --set env.scenario=merge")).output,
              Not(HasSubstr("recorded in")));
}

TEST_F(TrainingData, MeasuredSharesFollowSpeedsAndStayInAResumedRun) {
  // An epoch has 17 steps, so the run ends in the second epoch.
  const std::string options =
      "--set data.shard_weights=measured --set train.max_steps=24 --set "
      "checkpoint.save_interval_steps=2 --set checkpoint.keep_last=20";
  const std::string slow = "TRAFFIC_FAULT=train.step:1:*:slow:100";
  const Outcome killed = run_program(command(2, "a", options, slow + ",train.step:0:21:kill"));
  ASSERT_NE(killed.exit_code, 0);
  EXPECT_THAT(killed.output, HasSubstr("speeds give the ranks these shares"));
  const auto first = checkpoint::load(dir_ / "a/checkpoints/step-000000016.h5");
  EXPECT_FALSE(first.contains("data/rank_weights"));
  const auto second = checkpoint::load(dir_ / "a/checkpoints/step-000000020.h5");
  const at::Tensor weights = second.tensor("data/rank_weights");
  EXPECT_GT(weights[0].item<double>(), 1.5 * weights[1].item<double>());
  const auto sizes = sampler_of(second).stages.back().batch_sizes;
  EXPECT_GT(sizes[0], sizes[1]);
  EXPECT_EQ(sizes[0] + sizes[1], 8);
  // No rank is slow in the resumed run, but the shares of the checkpoint remain.
  fs::copy(dir_ / "a", dir_ / "b", fs::copy_options::recursive);
  for (const char* run : {"a", "b"}) {
    const Outcome resumed = run_program(command(2, run, options));
    ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
    EXPECT_THAT(resumed.output, Not(HasSubstr("speeds give the ranks these shares")));
    const auto last = checkpoint::load(dir_ / run / "checkpoints/step-000000022.h5");
    EXPECT_TRUE(at::equal(last.tensor("data/rank_weights"), weights));
    EXPECT_EQ(sampler_of(last).stages.size(), 1U)
        << "the resumed epoch must use the same shares of the ranks";
  }
  EXPECT_EQ(summary("a")["parameters_xxh3"], summary("b")["parameters_xxh3"]);
}

TEST_F(TrainingData, AResumedRunKeepsTheBatchSizeChosenByMemory) {
  const std::string options = "--set data.batch_size=0 --set checkpoint.save_interval_steps=1 ";
  const Outcome outcome = run_program(command(2, "run", options + "--set train.max_steps=2"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("data.batch_size = "), HasSubstr("of free memory")));
  const auto size = checkpoint::load(dir_ / "run/checkpoints/phase1.h5").integer("data/batch_size");
  EXPECT_THAT(size, AnyOf(4, 8, 16, 32, 40, 48));
  const Outcome resumed = run_program(command(2, "run", options + "--set train.max_steps=3"));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_THAT(resumed.output, Not(HasSubstr("of free memory")));
  EXPECT_EQ(summary("run")["steps"], 3);
}

TEST_F(TrainingData, EveryKindOfShardTrainsAlsoWithAPaddedLastStep) {
  for (const std::string shards : {"time", "region"}) {
    const Outcome outcome = run_program(
        command(3, shards,
                "--set data.shards=" + shards +
                    " --set data.drop_last=false --set data.persistent_workers=false --set "
                    "data.rank_weights=[1,2,1.5] --set train.max_steps=20"));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
    EXPECT_EQ(summary(shards)["steps"], 20);
  }
}

TEST_F(TrainingData, TheChunkWithAFlippedBitIsNamed) {
  std::fstream file(dir_ / "row.h5", std::ios::in | std::ios::out | std::ios::binary);
  // Several chunks are damaged, because training does not read all columns of the file.
  for (const int tenth : {3, 4, 5, 6, 7}) {
    const auto place = static_cast<std::streamoff>(fs::file_size(dir_ / "row.h5") * tenth / 10);
    file.seekg(place);
    const int byte = file.get();
    file.seekp(place);
    file.put(static_cast<char>(byte ^ 1));
  }
  file.close();
  const Outcome outcome = run_program(command(2, "run"), 60);
  EXPECT_EQ(outcome.exit_code, 3) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("row.h5: column"), HasSubstr("chunk"),
                                    HasSubstr("checksum (fletcher32) does not match")));
}

TEST_F(TrainingData, ALockedFileIsNamedWithTheRemedy) {
  const int fd = ::open((dir_ / "row.h5").c_str(), O_RDWR);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(flock(fd, LOCK_EX), 0);
  const Outcome outcome = run_program(command(2, "run"), 60);
  close(fd);
  EXPECT_EQ(outcome.exit_code, 3) << outcome.output;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("cannot be locked"), HasSubstr("HDF5_USE_FILE_LOCKING=FALSE")));
}

TEST_F(TrainingData, UnreadableFilesAreSkippedAndCountedUpToTheAllowedShare) {
  std::ofstream(dir_ / "text.h5") << "this is no HDF5 file\n";
  const std::string files = "--set 'data.files=[\"" + dir_.string() + "/*.h5\"]' ";
  const Outcome skipped =
      run_program(command(2, "run", files + "--set data.max_bad_file_share=0.5"), 60);
  EXPECT_EQ(skipped.exit_code, 0) << skipped.output;
  EXPECT_THAT(skipped.output, AllOf(HasSubstr("skipped: "), HasSubstr("text.h5")));
  const Outcome refused =
      run_program(command(2, "other", files + "--set data.max_bad_file_share=0.4"), 60);
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.output,
              AllOf(HasSubstr("1 of 2 files are unreadable"), HasSubstr("text.h5")));
}

TEST_F(TrainingData, AReplacedFileIsReadOnlyAfterTheRunIsResumed) {
  ASSERT_EQ(run_program(command(2, "whole")).exit_code, 0);
  BackgroundProgram program(command(2, "cut", "", "TRAFFIC_FAULT=train.step:0:*:slow:200"));
  ASSERT_TRUE(wait_for_step("cut", 2));
  write_train_data(dir_ / "other.h5", {"is_cv"});
  fs::rename(dir_ / "row.h5", dir_ / "kept.h5");
  fs::rename(dir_ / "other.h5", dir_ / "row.h5");
  ASSERT_TRUE(wait_for_step("cut", 5));
  program.send(SIGUSR1);
  ASSERT_EQ(program.wait(), 75);
  const Outcome resumed = run_program(command(2, "cut"), 60);
  EXPECT_EQ(resumed.exit_code, 4);
  EXPECT_THAT(resumed.output, HasSubstr("data.files have"));
  fs::rename(dir_ / "kept.h5", dir_ / "row.h5");
  ASSERT_EQ(run_program(command(2, "cut")).exit_code, 0);
  EXPECT_EQ(summary("whole")["parameters_xxh3"], summary("cut")["parameters_xxh3"]);
}

}  // namespace
}  // namespace traffic::test
