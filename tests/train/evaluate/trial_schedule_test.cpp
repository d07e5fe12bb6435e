/// Tests of the schedule of a trial. It estimates how many seeds fit into the remaining time, and
/// after which part of an episode to end it. The parts are counted in marks.
#include "evaluate/trial_schedule.h"

#include <gtest/gtest.h>

namespace traffic::train {
namespace {

constexpr std::int64_t kMarks = 10;
constexpr std::int64_t kUnknownMark = kMarks + 1;

/// An episode that has reached `mark`. It took load_s to load, and interval_s from mark to mark.
Course course_to(std::int64_t mark, double load_s, double interval_s) {
  Course course{.started = true};
  for (std::int64_t m = 0; m <= mark; ++m) {
    course.reached_s.push_back(load_s + interval_s * static_cast<double>(m));
  }
  course.elapsed_s = course.reached_s.back();
  return course;
}

TEST(TrialSchedule, NothingIsKnownBeforeAnEpisodeShowsItsSpeed) {
  TrialSchedule schedule(2, 2, kMarks);
  EXPECT_EQ(schedule.seed_s(kMarks), 0.0);
  EXPECT_EQ(schedule.remaining_s(5, kMarks), 0.0);
  EXPECT_EQ(schedule.horizon(kMarks, kUnknownMark, 1.0), kMarks);
}

TEST(TrialSchedule, SeedsOfTwoControllersTakeTurnsOnTheProcesses) {
  TrialSchedule schedule(2, 2, kMarks);
  schedule.course(0, 0) = course_to(5, 1.0, 1.0);
  schedule.course(0, 1) = course_to(5, 1.0, 1.0);
  // Each episode takes 11 s, 6 s of which are over.
  EXPECT_DOUBLE_EQ(schedule.remaining_s(1, kMarks), 5.0);
  EXPECT_DOUBLE_EQ(schedule.remaining_s(3, kMarks), 5.0 + 2 * 11.0);
  EXPECT_DOUBLE_EQ(schedule.seed_s(kMarks), 11.0);
  TrialSchedule with_one_process(2, 1, kMarks);
  with_one_process.course(0, 0) = course_to(5, 1.0, 1.0);
  EXPECT_DOUBLE_EQ(with_one_process.remaining_s(1, kMarks), 5.0 + 11.0);
}

TEST(TrialSchedule, ASlowingSimulationIsExpectedToStaySlow) {
  TrialSchedule schedule(1, 1, kMarks);
  Course& course = schedule.course(0, 0);
  course = course_to(2, 0.0, 1.0);
  for (int i = 0; i < 2; ++i) course.reached_s.push_back(course.reached_s.back() + 3.0);
  course.elapsed_s = course.reached_s.back();
  EXPECT_DOUBLE_EQ(schedule.remaining_s(1, kMarks), 6 * 3.0);
  course.elapsed_s += 5.0;  // the next mark is overdue
  EXPECT_DOUBLE_EQ(schedule.remaining_s(1, kMarks), 6 * 5.0 - 5.0);
}

TEST(TrialSchedule, WholeEpisodesAreKeptIfThreeSeedsFit) {
  TrialSchedule schedule(1, 1, kMarks);
  schedule.course(0, 0) = course_to(5, 0.0, 1.0);
  EXPECT_EQ(schedule.horizon(kMarks, kUnknownMark, 25.0), kMarks);
}

TEST(TrialSchedule, EpisodesAreCutSoThatFourSeedsFitIfThatShowsEnough) {
  TrialSchedule schedule(1, 1, kMarks);
  schedule.course(0, 0) = course_to(4, 0.0, 1.0);
  // 12 s are left. With an end at mark 4, the first seed is done and three others take 4 s each.
  EXPECT_EQ(schedule.horizon(kMarks, 2, 12.0), 4);
  // If a later mark is needed, two seeds fit up to mark 6 (2 s and 6 s) or 8 (4 s and 8 s).
  EXPECT_EQ(schedule.horizon(kMarks, 6, 12.0), 6);
  EXPECT_EQ(schedule.horizon(kMarks, kUnknownMark, 12.0), 8);
  EXPECT_EQ(schedule.horizon(5, kUnknownMark, 12.0), 5) << "the horizon must never become longer";
}

TEST(TrialSchedule, AnEndedEpisodeTakesNoMoreTime) {
  TrialSchedule schedule(1, 1, kMarks);
  Course& course = schedule.course(0, 0);
  course = course_to(6, 0.0, 1.0);
  course.ended = true;
  EXPECT_DOUBLE_EQ(schedule.remaining_s(1, kMarks), 0.0);
  EXPECT_DOUBLE_EQ(schedule.seed_s(kMarks), 10.0) << "only 6 of 10 marks ran: a seed needs 10 s";
  course.is_whole = true;
  EXPECT_DOUBLE_EQ(schedule.seed_s(kMarks), 6.0);
}

}  // namespace
}  // namespace traffic::train
