#include "train/offpolicy/start.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "traffic/core/error.h"
#include "train/offpolicy/settings.h"

namespace traffic::train::offpolicy {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

class StartingCheckpoint : public ::testing::Test {
 protected:
  StartingCheckpoint() {
    std::string pattern = (fs::temp_directory_path() / "start-test-XXXXXX").string();
    run_ = mkdtemp(pattern.data());
    fs::create_directories(run_ / "checkpoints");
    for (const char* name : {"step-000001000.h5", "step-000004000.h5", "best.h5"}) {
      std::ofstream(run_ / "checkpoints" / name) << "any";
    }
  }
  ~StartingCheckpoint() override { fs::remove_all(run_); }
  fs::path run_;
};

TEST_F(StartingCheckpoint, IsTheOneOfTheEpisodeOrTheNewest) {
  EXPECT_EQ(starting_checkpoint(run_, 1000).filename(), "step-000001000.h5");
  EXPECT_EQ(starting_checkpoint(run_, 0).filename(), "step-000004000.h5");
  EXPECT_EQ(starting_checkpoint(run_ / "any.h5", 0), run_ / "any.h5");
}

TEST_F(StartingCheckpoint, TheErrorListsTheSavedEpisodes) {
  EXPECT_THAT([&] { starting_checkpoint(run_, 2000); },
              Throws<CheckpointError>(Property(
                  &Error::what, HasSubstr("no checkpoint of episode 2000; saved are 1000, 4000"))));
  EXPECT_THROW(starting_checkpoint(run_ / "checkpoints", 0), CheckpointError);
  EXPECT_THROW(starting_checkpoint(run_ / "any.h5", 1000), ConfigError);
}

TEST(CheckReplayFits, StatesTheMemoryThatIsNeeded) {
  check_replay_fits(1 << 20, 2, 1 << 21);
  EXPECT_THAT([] { check_replay_fits(1 << 20, 2, (1 << 21) - 1); },
              Throws<ResourceError>(Property(
                  &Error::what, HasSubstr("2.0 MiB for 2 rank(s) of this machine, which has"))));
}

TEST(OffPolicySettings, ScaleLearningRatesAndDivideBatchesByRanks) {
  OffPolicy settings;
  EXPECT_EQ(learning_rate_scale(settings, 4), 1.0);
  settings.scale_lr = "sqrt";
  EXPECT_EQ(learning_rate_scale(settings, 4), 2.0);
  settings.scale_lr = "linear";
  EXPECT_EQ(learning_rate_scale(settings, 4), 4.0);
  EXPECT_EQ(batch_of_rank(settings, 4), 512);
  settings.batch_scope = "all";
  EXPECT_EQ(batch_of_rank(settings, 4), 128);
  check_settings(settings, 4);
  EXPECT_THROW(check_settings(settings, 3), ConfigError);
  settings.learning_starts = settings.buffer_size + 1;
  EXPECT_THROW(check_settings(settings, 4), ConfigError);
}

}  // namespace
}  // namespace traffic::train::offpolicy
