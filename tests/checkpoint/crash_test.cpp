// Kills processes while they save checkpoints, and lets saves fail: the earlier checkpoints must
// stay complete.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cstdio>

#include "checkpoint/fixtures.h"
#include "support/processes.h"
#include "traffic/checkpoint/file.h"
#include "traffic/checkpoint/manager.h"
#include "traffic/checkpoint/saver.h"
#include "traffic/core/error.h"
#include "traffic/core/random.h"

namespace traffic::checkpoint {
namespace {

namespace fs = std::filesystem;

class CrashTest : public FolderTest {
 protected:
  static constexpr std::int64_t kNumValues = 100'000;
};

/// Saves one step after the other in the thread of a Saver, until the process is killed. Every
/// third step is saved as the best, too.
[[noreturn]] void save_for_ever(const fs::path& dir, std::int64_t last_step,
                                std::int64_t num_values) {
  CheckpointManager manager(dir, 2, "phase1");
  Saver saver(manager, 1, [](std::int64_t, const std::string&) { _exit(1); });
  for (std::int64_t step = last_step + 1;; ++step) {
    saver.begin(small_snapshot(step, num_values), /*best=*/step % 3 == 0);
  }
}

TEST_F(CrashTest, KillAtAnyPointOfASaveLeavesACompleteCheckpoint) {
  constexpr int kKills = 100;
  (void)CheckpointManager(dir_, 2, "phase1").save_step(small_snapshot(0, kNumValues), true);
  Rng rng(7);
  std::int64_t last_step = 0;
  int half_saved = 0;
  for (int trial = 0; trial < kKills; ++trial) {
    const pid_t child = traffic::test::fork_child();
    if (child == 0) save_for_ever(dir_, last_step, kNumValues);
    usleep(static_cast<useconds_t>(1000 + rng.uniform_int(20'000)));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the child ended by itself";
    for (const auto& entry : fs::directory_iterator(dir_)) {
      if (entry.path().filename().string().starts_with(".tmp-")) ++half_saved;
    }

    CheckpointManager manager(dir_, 2, "phase1");
    const ResumePoint point = manager.newest_valid();
    ASSERT_TRUE(point.snapshot);
    const std::int64_t step = point.snapshot->step();
    EXPECT_TRUE(point.rejected.empty()) << point.rejected.front().reason;
    EXPECT_TRUE(same_bits(*point.snapshot, small_snapshot(step, kNumValues)));
    EXPECT_GE(step, last_step);
    EXPECT_EQ(load(manager.best_path()).step(), step - step % 3) << "killed at step " << step;
    last_step = step;
    for (const auto& entry : fs::directory_iterator(dir_)) {
      EXPECT_EQ(entry.path().extension(), ".h5")
          << "the killed save left a file behind: " << entry.path();
    }
  }
  EXPECT_GT(last_step, 0) << "no save finished, so the test proves nothing";
  std::printf("%d kills, %d of them within a write, %ld steps saved\n", kKills, half_saved,
              static_cast<long>(last_step));
}

// RLIMIT_FSIZE makes write() fail after exactly that many bytes, as a full disk does.
TEST_F(CrashTest, WriteThatFailsAtAnyByteLeavesOnlyOldCheckpoints) {
  CheckpointManager manager(dir_, 2, "phase1");
  (void)manager.save_step(small_snapshot(1, kNumValues));
  const auto file_bytes = fs::file_size(manager.step_path(1));
  for (rlim_t limit = 0; limit < file_bytes; limit += 4096) {
    const pid_t child = traffic::test::fork_child();
    if (child == 0) {
      signal(SIGXFSZ, SIG_IGN);
      const rlimit bytes{limit, limit};
      setrlimit(RLIMIT_FSIZE, &bytes);
      try {
        (void)manager.save_step(small_snapshot(2, kNumValues));
      } catch (const ResourceError& error) {
        const bool says_why = std::string(error.what()).find("File too large") != std::string::npos;
        _exit(says_why ? 8 : 1);
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 8) << "limit " << limit;
    ASSERT_EQ(std::distance(fs::directory_iterator(dir_), {}), 1) << "limit " << limit;
  }
  EXPECT_TRUE(same_bits(*manager.newest_valid().snapshot, small_snapshot(1, kNumValues)));
}

TEST_F(CrashTest, SaveThatFailsOverAnExistingFileKeepsIt) {
  const fs::path path = dir_ / "best.h5";
  save(small_snapshot(1, kNumValues), path);
  const pid_t child = traffic::test::fork_child();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit bytes{100'000, 100'000};
    setrlimit(RLIMIT_FSIZE, &bytes);
    try {
      save(small_snapshot(2, kNumValues), path);
    } catch (const ResourceError&) {
      _exit(8);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 8);
  EXPECT_TRUE(same_bits(load(path), small_snapshot(1, kNumValues)));
}

}  // namespace
}  // namespace traffic::checkpoint
