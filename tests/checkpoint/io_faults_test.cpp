// Lets each file system call of a save fail in turn, with each error that the call can return. The
// checkpoints must stay complete.
#include <gmock/gmock.h>

#include <cerrno>
#include <cstdio>

#include "checkpoint/fixtures.h"
#include "support/fail_io.h"
#include "traffic/checkpoint/file.h"
#include "traffic/checkpoint/manager.h"
#include "traffic/core/error.h"

namespace traffic::checkpoint {
namespace {

namespace fs = std::filesystem;

class IoFaultsTest : public FolderTest {
 protected:
  ~IoFaultsTest() override { fail_io_disarm(); }

  /// Saves a step and a new best while the k-th call fails. @return whether a call failed
  bool save_with(const char* call, int k, int error, int times = 1) {
    const fs::path folder =
        dir_ / fs::path(call) / (std::to_string(k) + "-" + std::to_string(error));
    CheckpointManager manager(folder, 2, "phase1");
    (void)manager.save_step(small_snapshot(1), /*best=*/true);
    (void)manager.mark_result();
    fail_io_arm(call, folder.c_str(), k, error, times);
    bool saved = false;
    try {
      (void)manager.save_step(small_snapshot(2), /*best=*/true);
      (void)manager.mark_result();
      saved = true;
    } catch (const ResourceError& failure) {
      EXPECT_THAT(failure.what(), ::testing::HasSubstr(folder.string()));
    }
    fail_io_disarm();
    check_folder_after(folder, saved);
    return fail_io_injected() > 0;
  }

  static void check_folder_after(const fs::path& folder, bool saved) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      EXPECT_EQ(entry.path().extension(), ".h5") << "the save left a file behind: " << entry.path();
      EXPECT_NO_THROW(verify(entry.path()));
    }
    const ResumePoint point = CheckpointManager(folder, 2, "phase1").newest_valid();
    ASSERT_TRUE(point.snapshot);
    EXPECT_TRUE(point.rejected.empty());
    EXPECT_TRUE(same_bits(*point.snapshot, small_snapshot(point.snapshot->step())));
    EXPECT_EQ(load(folder / "best.h5").step(), point.snapshot->step())
        << "the newest step was saved as the best, so best.h5 must contain it";
    if (saved) {
      EXPECT_EQ(point.snapshot->step(), 2);
      EXPECT_EQ(load(folder / "phase1.h5").step(), 2);
    }
    // The next save works as if no call had failed.
    CheckpointManager manager(folder, 2, "phase1");
    (void)manager.save_step(small_snapshot(3), /*best=*/true);
    EXPECT_EQ(load(manager.best_path()).step(), 3);
  }

  /// Lets each call fail in turn. @return number of calls that a save makes
  int fail_each(const char* call, int error) {
    int k = 1;
    while (save_with(call, k, error)) ++k;
    std::printf("%s: %d calls failed with errno %d, one at a time\n", call, k - 1, error);
    return k - 1;
  }
};

TEST_F(IoFaultsTest, AFailureOfAnyCallLeavesOnlyCompleteCheckpoints) {
  for (const char* call : {"open", "write", "fsync", "close", "rename"}) {
    for (const int error : {ENOSPC, EIO, EDQUOT}) {
      EXPECT_GT(fail_each(call, error), 0) << call << " is never called";
    }
  }
}

TEST_F(IoFaultsTest, WithoutHardLinksTheMarkedCheckpointsAreCopies) {
  EXPECT_GT(fail_each("link", EPERM), 0);
  EXPECT_TRUE(save_with("link", 1, EOPNOTSUPP, 1000));
}

TEST_F(IoFaultsTest, AnInterruptedOrShortCallIsContinued) {
  for (const char* call : {"open", "write", "fsync"}) {
    const fs::path folder = dir_ / call;
    CheckpointManager manager(folder, 2, "phase1");
    fail_io_arm(call, folder.c_str(), 1, EINTR, 3);
    EXPECT_NO_THROW((void)manager.save_step(small_snapshot(1))) << call;
    EXPECT_EQ(fail_io_injected(), 3) << call;
    fail_io_disarm();
    EXPECT_TRUE(same_bits(*manager.newest_valid().snapshot, small_snapshot(1)));
  }
  const fs::path folder = dir_ / "short";
  CheckpointManager manager(folder, 2, "phase1");
  fail_io_arm("write", folder.c_str(), 1, 0, 5);
  (void)manager.save_step(small_snapshot(1));
  EXPECT_EQ(fail_io_injected(), 5);
  fail_io_disarm();
  EXPECT_TRUE(same_bits(*manager.newest_valid().snapshot, small_snapshot(1)));
}

}  // namespace
}  // namespace traffic::checkpoint
