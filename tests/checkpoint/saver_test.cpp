// Tests of Saver, which saves checkpoints in a thread of its own. The file must have the values at
// the time of the call, and a failed save must lose nothing.
#include "traffic/checkpoint/saver.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <vector>

#include "checkpoint/fixtures.h"
#include "support/fail_io.h"
#include "traffic/core/error.h"

namespace traffic::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SaverTest : public FolderTest {
 protected:
  ~SaverTest() override { fail_io_disarm(); }

  Saver make_saver(std::int64_t max_failures = 3) {
    return {manager_, max_failures, [this](std::int64_t step, const std::string& why) {
              failed_.push_back(step);
              why_ = why;
            }};
  }

  CheckpointManager manager_{dir_ / "checkpoints", 2, "phase1"};
  std::vector<std::int64_t> failed_;
  std::string why_;
};

TEST_F(SaverTest, SavesTheValuesAtTheTimeOfTheCall) {
  const Saver::OnFailure none = [](std::int64_t, const std::string&) {};
  Saver saver(manager_, 1, none);
  at::Tensor weights = at::full({2'000'000}, 1.0F);
  Snapshot snapshot(5);
  snapshot.put_tensor("weights", weights);
  saver.begin(snapshot, /*best=*/true);
  weights.fill_(2.0F);  // training continues
  saver.wait();
  EXPECT_EQ(saver.saved_step(), 5);
  const Snapshot saved = load(manager_.step_path(5));
  EXPECT_TRUE(at::equal(saved.tensor("weights"), at::full({2'000'000}, 1.0F)));
  EXPECT_EQ(load(manager_.best_path()).step(), 5);
}

TEST_F(SaverTest, NoSaveIsDroppedAndTheOrderIsKept) {
  Saver saver = make_saver();
  for (std::int64_t step = 1; step <= 20; ++step) saver.begin(small_snapshot(step), step == 7);
  saver.wait();
  EXPECT_THAT(manager_.steps(), ElementsAre(20, 19));
  EXPECT_EQ(load(manager_.best_path()).step(), 7);
  EXPECT_EQ(saver.saved_step(), 20);
  EXPECT_TRUE(failed_.empty());
}

TEST_F(SaverTest, TheDestructorWaitsForTheSaveInProgress) {
  { make_saver().begin(small_snapshot(3, 1'000'000), false); }
  EXPECT_EQ(load(manager_.step_path(3)).step(), 3);
}

TEST_F(SaverTest, ABestCheckpointThatFailedIsSavedFirstNextTime) {
  Saver saver = make_saver();
  fail_io_arm("write", "/checkpoints/", 1, ENOSPC, 1);
  saver.begin(small_snapshot(1), /*best=*/true);
  saver.wait();
  EXPECT_EQ(fail_io_injected(), 1);
  EXPECT_THAT(failed_, ElementsAre(1));
  EXPECT_THAT(why_, HasSubstr("No space left"));
  EXPECT_FALSE(saver.saved_step());
  saver.begin(small_snapshot(2), /*best=*/false);
  saver.wait();
  EXPECT_TRUE(same_bits(load(manager_.best_path()), small_snapshot(1)));
  EXPECT_THAT(manager_.steps(), ElementsAre(2));
}

TEST_F(SaverTest, AStepIsNotSavedBeforeItsBestCheckpoint) {
  Saver saver = make_saver();
  fail_io_arm("rename", "/best.h5", 1, EIO, 2);
  saver.begin(small_snapshot(1), /*best=*/true);
  saver.begin(small_snapshot(2), /*best=*/false);
  saver.wait();
  EXPECT_THAT(failed_, ElementsAre(1, 2));
  EXPECT_TRUE(manager_.steps().empty());
  saver.wait_for_best();
  EXPECT_EQ(load(manager_.best_path()).step(), 1);
}

TEST_F(SaverTest, ABetterCheckpointReplacesAPendingBest) {
  Saver saver = make_saver();
  fail_io_arm("fsync", "/checkpoints", 1, EIO, 1);
  saver.begin(small_snapshot(1), /*best=*/true);
  saver.begin(small_snapshot(2), /*best=*/true);
  saver.wait_for_best();
  EXPECT_EQ(load(manager_.best_path()).step(), 2);
}

TEST_F(SaverTest, GivesUpAfterTooManyFailuresInARowAndLogsEach) {
  Saver saver = make_saver(2);
  fail_io_arm("write", "/checkpoints/", 1, ENOSPC, 1000);
  saver.begin(small_snapshot(1), false);
  saver.wait();
  saver.begin(small_snapshot(2), false);
  while (!saver.has_given_up()) usleep(1000);
  EXPECT_THAT(failed_, ElementsAre(1, 2));
  EXPECT_THAT([&] { saver.wait(); },
              ::testing::ThrowsMessage<ResourceError>(HasSubstr("2 checkpoints in a row")));
  EXPECT_THROW(saver.begin(small_snapshot(3), false), ResourceError);
  EXPECT_EQ(saver.num_failures(), 2);
}

TEST_F(SaverTest, ABestCheckpointThatCannotBeSavedIsAnErrorAtTheEnd) {
  Saver saver = make_saver(5);
  fail_io_arm("write", "/checkpoints/", 1, ENOSPC, 1000);
  saver.begin(small_snapshot(1), /*best=*/true);
  EXPECT_THROW(saver.wait_for_best(), ResourceError);
}

}  // namespace
}  // namespace traffic::checkpoint
