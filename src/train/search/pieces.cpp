#include "search/pieces.h"

#include <algorithm>
#include <cmath>

#include "search/rounds.h"
#include "traffic/scene/road_state.h"

namespace traffic::train {
namespace {

/// Share of the remaining time that the planned pieces may take. The remainder is a reserve in case
/// simulations become slower than they were at first.
constexpr double kPlannedShare = 0.8;

std::int64_t longest_fitting(const std::vector<WatchedRun>& runs, const EpisodeMarks& marks,
                             int parallel, std::int64_t episodes, double left_s) {
  std::int64_t length = marks.count;
  while (length > 1 &&
         static_cast<double>(episodes) * piece_seconds(runs, marks, length, parallel) > left_s) {
    --length;
  }
  return length;
}

}  // namespace

void WatchedRun::note(double time_s, double real_s, bool done, const scene::EpisodeScore& score,
                      const EpisodeMarks& marks, double step_length_s) {
  course.started = true;
  course.elapsed_s = real_s;
  course.is_whole = course.ended = done;
  const auto passed = std::min(
      marks.count, static_cast<std::int64_t>(std::floor(time_s / marks.interval_s + 1e-9)));
  while (static_cast<std::int64_t>(course.reached_s.size()) <= passed) {
    course.reached_s.push_back(real_s);
  }
  if (steady_mark == kNotSteady && is_steady(score, step_length_s)) steady_mark = passed;
}

std::int64_t WatchedRun::last_mark(const EpisodeMarks& marks) const {
  if (course.is_whole) return marks.count;
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(course.reached_s.size()) - 1);
}

EpisodesNeeded EpisodesNeeded::of(std::int64_t scripts, std::int64_t kinds) {
  const std::int64_t final_episodes = (kFinalists + 1) * kMinFinalSeeds;
  const Round fewest{.scripts = std::min(kFinalists, scripts), .seeds = kMinSeeds};
  return {
      .wanted = count_episodes(plan_rounds(std::min(scripts, kinds), kinds, 0)) + final_episodes,
      .fewest = fewest.episodes() + final_episodes};
}

double piece_seconds(const std::vector<WatchedRun>& runs, const EpisodeMarks& marks,
                     std::int64_t length, int parallel) {
  const double whole_s = static_cast<double>(marks.count) * marks.interval_s;
  // A piece in saved traffic also simulates the time before it on which observations look back.
  const double simulated_s = static_cast<double>(length) * marks.interval_s + scene::kRecentS;
  const double share = length == marks.count ? 1.0 : std::min(1.0, simulated_s / whole_s);
  double sum = 0.0;
  double count = 0.0;
  for (const WatchedRun& run : runs) {
    if (!shows_speed(run.course)) continue;
    const double start_s = run.course.reached_s.front();
    sum += start_s + share * (seconds_of(run.course, marks.count) - start_s);
    count += 1.0;
  }
  return count > 0.0 ? sum / count / static_cast<double>(parallel) : 0.0;
}

std::int64_t choose_piece_length(const std::vector<WatchedRun>& runs, const EpisodeMarks& marks,
                                 int parallel, const EpisodesNeeded& needed, double left_s) {
  const auto longest = [&](std::int64_t episodes) {
    return longest_fitting(runs, marks, parallel, episodes, kPlannedShare * left_s);
  };
  const auto shortest = std::min(
      marks.count, static_cast<std::int64_t>(std::ceil(kShortestPiece_s / marks.interval_s)));
  return std::max(longest(needed.wanted), std::min(shortest, longest(needed.fewest)));
}

}  // namespace traffic::train
