#include "train/search/pieces.h"

#include <gtest/gtest.h>

#include <vector>

#include "train/search/rounds.h"

namespace traffic::train {
namespace {

constexpr EpisodeMarks kMarks{.interval_s = 60.0, .count = 60};  // an episode of an hour
constexpr EpisodesNeeded kNeeded{.wanted = 40, .fewest = 16};

/// A run that has reached a mark. It took interval_s of real time from mark to mark.
WatchedRun run_to(std::int64_t mark, double interval_s,
                  std::int64_t steady_mark = WatchedRun::kNotSteady) {
  WatchedRun run{.steady_mark = steady_mark};
  for (std::int64_t m = 0; m <= mark; ++m) {
    run.course.reached_s.push_back(interval_s * static_cast<double>(m));
  }
  run.course.elapsed_s = run.course.reached_s.back();
  return run;
}

TEST(Pieces, AMarkIsAMinuteOfALongEpisodeAndAStepOfAVeryShortOne) {
  EXPECT_EQ(EpisodeMarks::of(3600, 1).interval_s, 60.0);
  EXPECT_EQ(EpisodeMarks::of(3600, 1).count, 60);
  EXPECT_EQ(EpisodeMarks::of(10, 0.5).interval_s, 1.0);
  EXPECT_EQ(EpisodeMarks::of(10, 2).count, 5);
}

TEST(Pieces, ARunNotesMarksItsPaceAndWhenItIsSteady) {
  WatchedRun run;
  scene::EpisodeScore score;
  run.note(0.0, 0.5, false, score, kMarks, 1.0);
  run.note(130.0, 2.0, false, score, kMarks, 1.0);
  EXPECT_EQ(run.course.reached_s, (std::vector<double>{0.5, 2.0, 2.0}));
  EXPECT_EQ(run.steady_mark, WatchedRun::kNotSteady) << "no vehicle has moved";
  EXPECT_FALSE(run.course.is_whole);
  score.seconds = 190.0;
  score.departed = score.arrived = 100;
  score.vehicle_steps = 1000;
  run.note(190.0, 4.0, true, score, kMarks, 1.0);
  EXPECT_EQ(run.steady_mark, 3) << "trips take ten seconds";
  EXPECT_TRUE(run.course.is_whole);
  EXPECT_EQ(seconds_of(run.course, kMarks.count), 4.0);
}

TEST(Pieces, APieceTakesItsShareOfAWholeEpisodeAndOfTheSimulationsThatRunAtOnce) {
  const std::vector<WatchedRun> runs{run_to(4, 1.0), run_to(4, 3.0), WatchedRun{}};
  EXPECT_DOUBLE_EQ(piece_seconds(runs, kMarks, 60, 2), 60.0) << "120 s on average, two at a time";
  // A piece also simulates the half minute before it.
  EXPECT_DOUBLE_EQ(piece_seconds(runs, kMarks, 10, 2), 10.5);
  EXPECT_EQ(piece_seconds({WatchedRun{}}, kMarks, 10, 2), 0.0) << "no run has shown its speed yet";
}

TEST(Pieces, EpisodesStayWholeIfTheWantedOnesFit) {
  const std::vector<WatchedRun> runs{run_to(5, 1.0)};
  // A whole episode takes 60 s; four fifths of the time are for the wanted episodes.
  EXPECT_EQ(choose_piece_length(runs, kMarks, 1, kNeeded, 40 * 60.0 / 0.8 + 1.0), kMarks.count);
  EXPECT_LT(choose_piece_length(runs, kMarks, 1, kNeeded, 40 * 60.0 / 0.8 - 1.0), kMarks.count);
  EXPECT_EQ(choose_piece_length({WatchedRun{}}, kMarks, 1, kNeeded, 1.0), kMarks.count)
      << "no run shows its speed yet, so episodes stay whole";
}

TEST(Pieces, FewerEpisodesRunIfPiecesWouldBeShorterThanFiveMinutes) {
  const std::vector<WatchedRun> runs{run_to(5, 1.0)};
  EXPECT_EQ(choose_piece_length(runs, kMarks, 1, kNeeded, 40 * 20.6 / 0.8), 20);
  // The wanted episodes would fit with pieces of 3 minutes, so fewer episodes run.
  EXPECT_EQ(choose_piece_length(runs, kMarks, 1, kNeeded, 40 * 3.6 / 0.8), 5);
  // Not even the fewest episodes fit with pieces of 5 minutes.
  EXPECT_EQ(choose_piece_length(runs, kMarks, 1, kNeeded, 16 * 3.6 / 0.8), 3);
}

TEST(Pieces, ASlowingSimulationGetsShorterPieces) {
  std::vector<WatchedRun> runs{run_to(4, 1.0)};
  const auto steady_pace = choose_piece_length(runs, kMarks, 1, kNeeded, 600.0);
  for (int i = 0; i < 4; ++i) {
    runs[0].course.reached_s.push_back(runs[0].course.reached_s.back() + 3.0);
  }
  runs[0].course.elapsed_s = runs[0].course.reached_s.back();
  EXPECT_LT(choose_piece_length(runs, kMarks, 1, kNeeded, 600.0), steady_pace);
}

TEST(Pieces, AWatchedRunThatHasEndedHasReachedEveryMark) {
  WatchedRun run = run_to(4, 1.0);
  EXPECT_TRUE(run.has_reached(4));
  EXPECT_FALSE(run.has_reached(5));
  EXPECT_EQ(run.last_mark(kMarks), 4);
  run.course.is_whole = true;
  EXPECT_TRUE(run.has_reached(5));
  EXPECT_EQ(run.last_mark(kMarks), kMarks.count);
}

TEST(Pieces, EpisodesAreNeededForOneScriptOfEachKindAndAFinalComparison) {
  const auto needed = EpisodesNeeded::of(30, 4);
  EXPECT_EQ(needed.wanted, 2 * (4 + 1) + 3 * kMinFinalSeeds);
  EXPECT_EQ(needed.fewest, 2 * (2 + 1) + 3 * kMinFinalSeeds);
  EXPECT_LE(EpisodesNeeded::of(1, 1).fewest, EpisodesNeeded::of(1, 1).wanted);
}

}  // namespace
}  // namespace traffic::train
