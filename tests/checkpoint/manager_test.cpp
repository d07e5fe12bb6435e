#include "traffic/checkpoint/manager.h"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cerrno>

#include "checkpoint/fixtures.h"
#include "support/fail_io.h"
#include "support/processes.h"
#include "traffic/checkpoint/file.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"

namespace traffic::checkpoint {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ManagerTest : public FolderTest {
 protected:
  fs::path folder_ = dir_ / "checkpoints";

  static void damage(const fs::path& path) {
    std::vector<char> bytes = read_bytes(path);
    bytes.at(5000) = static_cast<char>(bytes.at(5000) ^ 1);
    // Writes a new file, because the old one may have a second name.
    fs::remove(path);
    write_bytes(path, bytes);
  }
};

TEST_F(ManagerTest, KeepsTheNewestAndRemovesOlderOnes) {
  CheckpointManager manager(folder_, 2, "phase1");
  for (const std::int64_t step : {10, 20, 30, 40}) (void)manager.save_step(small_snapshot(step));
  EXPECT_THAT(manager.steps(), ElementsAre(40, 30));
  EXPECT_EQ(manager.step_path(40).filename(), "step-000000040.h5");
}

TEST_F(ManagerTest, BestAndResultCheckpointsOutliveTheirStep) {
  CheckpointManager manager(folder_, 1, "phase1");
  (void)manager.save_step(small_snapshot(10), /*best=*/true);
  (void)manager.mark_result();
  (void)manager.save_step(small_snapshot(20), /*best=*/true);
  (void)manager.save_step(small_snapshot(30));
  EXPECT_THAT(manager.steps(), ElementsAre(30));
  EXPECT_EQ(load(manager.best_path()).step(), 20);
  EXPECT_EQ(load(manager.result_path()).step(), 10);
}

TEST_F(ManagerTest, ResumingAnOlderStepMovesLaterStepsAside) {
  CheckpointManager manager(folder_, 2, "phase1");
  for (const std::int64_t step : {1, 2, 3, 4}) (void)manager.save_step(small_snapshot(step));
  (void)manager.save_step(small_snapshot(4), /*best=*/true);
  (void)manager.mark_result();
  fs::copy_file(manager.step_path(3), dir_ / "kept.h5");
  EXPECT_EQ(manager.leave_behind(manager.step_path(3)), folder_ / "left-behind-000000003");
  EXPECT_THAT(manager.steps(), ElementsAre(3));
  EXPECT_FALSE(fs::exists(manager.best_path()));
  EXPECT_FALSE(fs::exists(manager.result_path()));
  for (const char* name : {"step-000000004.h5", "best.h5", "phase1.h5"}) {
    EXPECT_EQ(load(folder_ / "left-behind-000000003" / name).step(), 4) << name;
  }
  manager.take_best_along(manager.step_path(3));
  EXPECT_EQ(manager.newest_valid().snapshot->step(), 3);
  EXPECT_EQ(manager.leave_behind(manager.step_path(3)), "")
      << "there must be no later step left to move";
  // The checkpoint is in another folder, so all steps here are moved. The first name of the folder
  // for them is taken already.
  EXPECT_EQ(manager.leave_behind(dir_ / "kept.h5"), folder_ / "left-behind-000000003-2");
  EXPECT_THAT(manager.steps(), ElementsAre());
  (void)manager.save_step(small_snapshot(1));
  EXPECT_THAT(manager.steps(), ElementsAre(1));
}

TEST_F(ManagerTest, SavesIntoAFolderThatWasRemoved) {
  CheckpointManager manager(folder_, 2, "phase1");
  fs::remove_all(folder_);
  (void)manager.save_step(small_snapshot(7));
  EXPECT_EQ(manager.newest_valid().snapshot->step(), 7);
}

TEST_F(ManagerTest, MarkingTwiceLeavesNoTemporaryFile) {
  CheckpointManager manager(folder_, 3, "phase1");
  (void)manager.save_step(small_snapshot(10));
  (void)manager.save_step(small_snapshot(20));
  (void)manager.save_step(small_snapshot(10), /*best=*/true);
  (void)manager.save_step(small_snapshot(10), /*best=*/true);
  (void)manager.save_step(small_snapshot(20), /*best=*/true);
  EXPECT_EQ(load(manager.best_path()).step(), 20);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 3);
}

TEST_F(ManagerTest, ContinuingFromAnotherFolderCopiesItsBest) {
  CheckpointManager source(folder_ / "source", 3, "phase1");
  (void)source.save_step(small_snapshot(10), /*best=*/true);
  (void)source.save_step(small_snapshot(20));
  CheckpointManager target(folder_ / "target", 3, "phase1");
  target.take_best_along(source.step_path(20));
  EXPECT_EQ(load(target.best_path()).step(), 10);
  (void)target.save_step(small_snapshot(30), /*best=*/true);
  target.take_best_along(source.step_path(20));
  EXPECT_EQ(load(target.best_path()).step(), 30) << "the folder must keep its own best checkpoint";

  fs::remove(source.best_path());
  CheckpointManager lone(folder_ / "lone", 3, "phase1");
  lone.take_best_along(source.step_path(20));
  EXPECT_EQ(load(lone.best_path()).step(), 20);
}

TEST_F(ManagerTest, WithoutABestCheckpointThereIsNoResult) {
  CheckpointManager manager(folder_, 3, "phase1");
  (void)manager.save_step(small_snapshot(10));
  EXPECT_THROW((void)manager.mark_result(), CheckpointError);
}

// The best checkpoint is written before the step's file. In the other order, a run that is killed
// in between would continue from a step that claims to be the best, and end with an older result.
TEST_F(ManagerTest, TheBestCheckpointIsWrittenBeforeItsStep) {
  CheckpointManager manager(folder_, 3, "phase1");
  (void)manager.save_step(small_snapshot(10), /*best=*/true);
  fail_io_arm("rename", "/step-", 1, EIO, 1000);
  EXPECT_THROW((void)manager.save_step(small_snapshot(20), /*best=*/true), ResourceError);
  EXPECT_EQ(fail_io_injected(), 1);
  fail_io_disarm();
  const ResumePoint point = manager.newest_valid();
  ASSERT_TRUE(point.snapshot);
  EXPECT_EQ(point.snapshot->step(), load(manager.best_path()).step());
}

TEST_F(ManagerTest, ResumesFromTheHighestStepNotTheNewestTime) {
  CheckpointManager manager(folder_, 3, "phase1");
  for (const std::int64_t step : {10, 20, 30}) (void)manager.save_step(small_snapshot(step));
  fs::last_write_time(manager.step_path(10),
                      fs::file_time_type::clock::now() + std::chrono::hours(24));
  fs::last_write_time(manager.step_path(30),
                      fs::file_time_type::clock::now() - std::chrono::hours(24));
  const ResumePoint point = manager.newest_valid();
  ASSERT_TRUE(point.snapshot);
  EXPECT_TRUE(same_bits(*point.snapshot, small_snapshot(30)));
  EXPECT_EQ(point.path, manager.step_path(30));
  EXPECT_TRUE(point.rejected.empty());
}

TEST_F(ManagerTest, SkipsDamagedCheckpointsAndSaysWhy) {
  CheckpointManager manager(folder_, 4, "phase1");
  for (const std::int64_t step : {10, 20, 30, 40}) (void)manager.save_step(small_snapshot(step));
  damage(manager.step_path(40));
  write_bytes(manager.step_path(30), {});
  const ResumePoint point = manager.newest_valid();
  ASSERT_TRUE(point.snapshot);
  EXPECT_EQ(point.snapshot->step(), 20);
  ASSERT_EQ(point.rejected.size(), 2);
  EXPECT_EQ(point.rejected[0].path, manager.step_path(40));
  EXPECT_THAT(point.rejected[0].reason, HasSubstr("hash"));
  EXPECT_THAT(point.rejected[1].reason, HasSubstr("0 bytes found"));
}

TEST_F(ManagerTest, FallsBackToTheBestAndAResult) {
  CheckpointManager manager(folder_, 1, "phase1");
  (void)manager.save_step(small_snapshot(10), /*best=*/true);
  (void)manager.mark_result();
  (void)manager.save_step(small_snapshot(20), /*best=*/true);
  damage(manager.step_path(20));
  EXPECT_EQ(manager.newest_valid().path, manager.best_path());
  damage(manager.best_path());
  EXPECT_EQ(manager.newest_valid().path, manager.result_path());
}

TEST_F(ManagerTest, AFolderWithoutCheckpointsIsNotAnError) {
  const ResumePoint point = CheckpointManager(folder_, 3, "phase1").newest_valid();
  EXPECT_FALSE(point.snapshot);
  EXPECT_TRUE(point.rejected.empty());
}

TEST_F(ManagerTest, IfAllCheckpointsAreDamagedTheRunStops) {
  CheckpointManager manager(folder_, 3, "phase1");
  (void)manager.save_step(small_snapshot(10));
  (void)manager.save_step(small_snapshot(20), /*best=*/true);
  fs::remove(manager.best_path());
  write_bytes(manager.best_path(), std::vector<char>(9000, 'x'));
  damage(manager.step_path(10));
  damage(manager.step_path(20));
  try {
    (void)manager.newest_valid();
    FAIL() << "expected an error: all checkpoints are damaged";
  } catch (const CheckpointError& error) {
    EXPECT_EQ(error.code(), ExitCode::kCheckpoint);
    EXPECT_THAT(error.what(), ::testing::AllOf(HasSubstr("none of the 3"), HasSubstr("best.h5"),
                                               HasSubstr("--resume")));
  }
}

TEST_F(ManagerTest, PruningNeverRemovesTheNewestCompleteCheckpoint) {
  CheckpointManager manager(folder_, 4, "phase1");
  for (const std::int64_t step : {10, 20, 30, 40}) (void)manager.save_step(small_snapshot(step));
  for (const std::int64_t step : {20, 30, 40}) damage(manager.step_path(step));
  CheckpointManager other(folder_, 2, "phase1");
  // The new step is lower than the damaged ones, as after a return to step 10.
  (void)other.save_step(small_snapshot(15));
  EXPECT_THAT(other.steps(), ElementsAre(40, 30, 15));
  EXPECT_EQ(other.newest_valid().snapshot->step(), 15);
}

TEST_F(ManagerTest, RemovesTemporaryFilesOfDeadProcessesOnly) {
  fs::create_directories(folder_);
  write_bytes(folder_ / "unrelated.txt", {'x'});
  const pid_t child = traffic::test::fork_child();
  if (child == 0) {
    const AtomicFile unfinished(folder_ / "step-000000001.h5");
    write_bytes(unfinished.temp_path(), {'x'});
    _exit(0);  // runs no destructors, like a killed process
  }
  waitpid(child, nullptr, 0);
  const AtomicFile in_progress(folder_ / "best.h5");
  write_bytes(in_progress.temp_path(), {'x'});
  ASSERT_EQ(std::distance(fs::directory_iterator(folder_), {}), 3);
  const CheckpointManager manager(folder_, 1, "phase1");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 2);
  EXPECT_TRUE(fs::exists(folder_ / "unrelated.txt"));
  EXPECT_TRUE(fs::exists(in_progress.temp_path()));
}

TEST_F(ManagerTest, FilesOfOtherNamesAreNotCheckpoints) {
  CheckpointManager manager(folder_, 1, "phase1");
  for (const char* name : {"step-.h5", "step-1x.h5", "step--5.h5", "step-5.h5.bak", "notes.h5"}) {
    write_bytes(folder_ / name, {'x'});
  }
  EXPECT_TRUE(manager.steps().empty());
  EXPECT_FALSE(manager.newest_valid().snapshot);
}

TEST(SaveFailures, GivesUpAfterTheLimitInARow) {
  SaveFailures failures(3);
  failures.failed("disk full");
  failures.failed("disk full");
  failures.succeeded();
  failures.failed("disk full");
  failures.failed("disk full");
  EXPECT_THROW(failures.failed("disk full"), ResourceError);
  EXPECT_EQ(failures.total(), 5);
}

class CheckFolderTest : public FolderTest {};

TEST_F(CheckFolderTest, CreatesTheFolderAndLeavesItEmpty) {
  check_folder(dir_ / "a" / "b", 1000, 4);
  EXPECT_TRUE(fs::is_empty(dir_ / "a" / "b"));
}

TEST_F(CheckFolderTest, RefusesPathsThatCannotHoldCheckpoints) {
  write_bytes(dir_ / "file", {'x'});
  EXPECT_THROW(check_folder(dir_ / "file", 1, 1), ResourceError);
  EXPECT_THROW(check_folder(dir_ / "file" / "below", 1, 1), ResourceError);
  fs::create_symlink(dir_ / "nowhere", dir_ / "dangling");
  EXPECT_THROW(check_folder(dir_ / "dangling", 1, 1), ResourceError);
  EXPECT_THROW(check_folder("/proc/checkpoints", 1, 1), ResourceError);
}

TEST_F(CheckFolderTest, RefusesADiskWithTooLittleRoom) {
  try {
    check_folder(dir_, std::int64_t{1} << 60, 4);
    FAIL() << "expected an error: the disk has too little room";
  } catch (const ResourceError& error) {
    EXPECT_THAT(error.what(), ::testing::AllOf(HasSubstr("free"), HasSubstr("keep_last")));
  }
}

}  // namespace
}  // namespace traffic::checkpoint
