/// Tests that a checkpoint stores and restores the replays and games of all ranks. They run on 1, 2
/// and 3 ranks.
#include "train/offpolicy/replay_state.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "mpi_main.h"
#include "replay/streams.h"
#include "support/alone_communicator.h"
#include "traffic/checkpoint/file.h"
#include "traffic/checkpoint/parts.h"
#include "traffic/core/error.h"

namespace traffic::train::offpolicy {
namespace {

namespace fs = std::filesystem;
using replay::Streams;

constexpr replay::SegmentShape kShape{.steps = 8, .streams = 2, .obs_dim = 2, .action_dim = 0};
constexpr replay::ReplayOptions kOptions{.capacity = 64, .segment = kShape};  // four segments

class RankStateTest : public ::testing::Test {
 protected:
  RankStateTest()
      : communicator_(
            comm::make_communicator(traffic::testing::mpi_session(), at::kCPU, config::Comm{})) {
    std::string folder;
    if (communicator_->rank() == 0) {
      std::string pattern = (fs::temp_directory_path() / "rank-state-XXXXXX").string();
      folder = mkdtemp(pattern.data());
    }
    dir_ = communicator_->broadcast_string(folder, 0);
  }
  ~RankStateTest() override {
    communicator_->barrier();
    if (communicator_->rank() == 0) fs::remove_all(dir_);
  }
  /// Saves a checkpoint of all ranks.
  fs::path save(RankState& state, const std::string& games) {
    checkpoint::Snapshot snapshot(1);
    const auto bytes = std::as_bytes(std::span(games));
    state.save_to(snapshot, {bytes.begin(), bytes.end()});
    checkpoint::write_parts(snapshot, dir_);
    const fs::path path = dir_ / "step-000000001.h5";
    if (communicator_->rank() == 0) checkpoint::save(snapshot, path);
    communicator_->barrier();
    return path;
  }

  std::unique_ptr<comm::Communicator> communicator_;
  fs::path dir_;
};

std::vector<std::vector<std::byte>> bytes_of(const replay::Replay& replay) {
  std::vector<std::vector<std::byte>> all;
  for (const auto& segment : replay.segments()) all.push_back(segment->to_bytes());
  return all;
}

TEST_F(RankStateTest, EveryRankRestoresItsReplayAndGamesToTheBit) {
  replay::Replay replay(kOptions);
  RankState state(replay, *communicator_, {});
  Streams streams(kShape, 5);
  streams.skip(1000 * communicator_->rank());
  streams.push_to(replay, 21);
  save(state, "first");
  // The replay then has old segments, which the first checkpoint also contains, and new ones. It
  // has dropped the oldest segment.
  streams.push_to(replay, 23);
  const std::string games = "games of " + std::to_string(communicator_->rank());
  const fs::path path = save(state, games);

  replay::Replay restored(kOptions);
  RankState other(restored, *communicator_, {});
  const auto found = other.restore_from(checkpoint::load(path));
  EXPECT_TRUE(found.same_ranks);
  const auto expected = std::as_bytes(std::span(games));
  EXPECT_EQ(found.games, checkpoint::Bytes(expected.begin(), expected.end()));
  EXPECT_EQ(bytes_of(restored), bytes_of(replay));
}

TEST_F(RankStateTest, OneRankGetsFullSegmentsOfAllRanks) {
  replay::Replay replay(kOptions);
  RankState state(replay, *communicator_, {});
  Streams streams(kShape, 5);
  streams.skip(1000 * communicator_->rank());
  streams.push_to(replay, 21);  // two full segments
  const fs::path path = save(state, "games");
  if (communicator_->size() == 1) return;

  test::AloneCommunicator alone;
  replay::Replay dealt(kOptions);
  RankState other(dealt, alone, {});
  EXPECT_FALSE(other.restore_from(checkpoint::load(path)).same_ranks);
  EXPECT_EQ(dealt.size(), 64);  // four full segments
  streams.push_to(dealt, 10);
  replay::Batch batch(kShape, 500);
  Rng rng(1);
  dealt.draw({.n_step = 3, .gamma = 0.5}, rng, batch.rows());
  for (std::size_t i = 0; i < 500; ++i) {
    if (batch.discounts[i] != 0.125F) continue;
    EXPECT_EQ(batch.next_obs[2 * i], batch.obs[2 * i] + 3);
  }
}

TEST_F(RankStateTest, AMissingSegmentIsNamed) {
  replay::Replay replay(kOptions);
  RankState state(replay, *communicator_, {});
  Streams(kShape, 5).push_to(replay, 21);
  const fs::path path = save(state, "games");
  const checkpoint::Snapshot snapshot = checkpoint::load(path);
  const std::string name = checkpoint::parts_of(
      snapshot, "parts/replay-rank" + std::to_string(communicator_->rank()))[1];
  communicator_->barrier();
  fs::remove(dir_ / "parts" / name);
  communicator_->barrier();
  replay::Replay restored(kOptions);
  RankState other(restored, *communicator_, {});
  EXPECT_THAT([&] { other.restore_from(snapshot); },
              ::testing::Throws<CheckpointError>(
                  ::testing::Property(&Error::what, ::testing::HasSubstr(name))));
}

TEST_F(RankStateTest, ANumberOfRanksThatDiffersFromTheReplaysIsRefused) {
  for (const std::int64_t num_ranks : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{3},
                                       (std::int64_t{1} << 32) + 1, std::int64_t{1} << 62}) {
    for (const std::vector<std::int64_t>& ids : {std::vector<std::int64_t>{}, {0, 1}}) {
      checkpoint::Snapshot snapshot(1);
      snapshot.put_int("offpolicy/num_ranks", num_ranks);
      snapshot.put_text("parts/replay-rank0", "");
      snapshot.put_text("parts/replay-rank1", "");
      snapshot.put_text("parts/games-rank0", "");
      test::AloneCommunicator alone;
      replay::Replay replay(kOptions);
      RankState state(replay, alone, ids);
      EXPECT_THAT([&] { state.restore_from(snapshot); },
                  ::testing::Throws<CheckpointError>(::testing::Property(
                      &Error::what, ::testing::HasSubstr("it has the replays of 2 ranks"))));
    }
  }
}

TEST_F(RankStateTest, AnIncompleteSegmentBeforeTheLastIsRefused) {
  if (communicator_->size() > 1) return;
  replay::Replay replay(kOptions);
  RankState state(replay, *communicator_, {});
  Streams(kShape, 5).push_to(replay, 13);  // a full segment, and one of 5 steps
  save(state, "games");
  const checkpoint::Snapshot whole = checkpoint::load(dir_ / "step-000000001.h5");
  const auto names = checkpoint::parts_of(whole, "parts/replay-rank0");
  checkpoint::Snapshot snapshot(1);
  snapshot.set_source(whole.source());
  snapshot.put_int("offpolicy/num_ranks", 1);
  snapshot.put_text("parts/games-rank0", whole.text("parts/games-rank0"));
  snapshot.put_text("parts/replay-rank0", names[1] + " " + names[0]);
  EXPECT_THAT([&] { state.restore_from(snapshot); },
              ::testing::Throws<CheckpointError>(::testing::Property(
                  &Error::what, ::testing::HasSubstr("segment 1 of a replay has 5 steps"))));
}

}  // namespace
}  // namespace traffic::train::offpolicy
