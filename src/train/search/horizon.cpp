#include "search/horizon.h"

#include <algorithm>
#include <cmath>

#include "search/rounds.h"

namespace traffic::train {
namespace {

/// Share of the remaining time that the planned episodes may take. The rest of the time is for the
/// first runs up to the horizon, and a reserve for simulations that become slower.
constexpr double kPlannedShare = 0.8;

std::int64_t last_fitting_mark(const std::vector<WatchedRun>& runs, const EpisodeMarks& marks,
                               int parallel, std::int64_t episodes, double left_s) {
  std::int64_t mark = marks.count;
  while (mark > 1 &&
         static_cast<double>(episodes) * episode_seconds(runs, mark, parallel) > left_s) {
    --mark;
  }
  return mark;
}

/// The first mark at which the network has been full for kFullAWhile_s in all runs that became
/// steady. If no run became steady, it is the last mark.
std::int64_t wanted_mark(const std::vector<WatchedRun>& runs, const EpisodeMarks& marks) {
  std::int64_t steady = WatchedRun::kNotSteady;
  for (const WatchedRun& run : runs) steady = std::max(steady, run.steady_mark);
  if (steady == WatchedRun::kNotSteady) return marks.count;
  const auto full = static_cast<std::int64_t>(std::ceil(kFullAWhile_s / marks.interval_s));
  return std::min(marks.count, steady + full);
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

EpisodesNeeded EpisodesNeeded::of(std::int64_t scripts, std::int64_t kinds) {
  const std::int64_t final_episodes = (kFinalists + 1) * kMinFinalSeeds;
  const Round fewest{.scripts = std::min(kFinalists, scripts), .seeds = kMinSeeds};
  return {
      .wanted = count_episodes(plan_rounds(std::min(scripts, kinds), kinds, 0)) + final_episodes,
      .fewest = fewest.episodes() + final_episodes};
}

double episode_seconds(const std::vector<WatchedRun>& runs, std::int64_t mark, int parallel) {
  double sum = 0.0;
  double count = 0.0;
  for (const WatchedRun& run : runs) {
    if (!shows_speed(run.course)) continue;
    sum += seconds_of(run.course, mark);
    count += 1.0;
  }
  return count > 0.0 ? sum / count / static_cast<double>(parallel) : 0.0;
}

std::int64_t choose_horizon(const std::vector<WatchedRun>& runs, const EpisodeMarks& marks,
                            int parallel, const EpisodesNeeded& needed, double left_s) {
  const auto last = [&](std::int64_t episodes) {
    return last_fitting_mark(runs, marks, parallel, episodes, kPlannedShare * left_s);
  };
  return std::max(last(needed.wanted), std::min(wanted_mark(runs, marks), last(needed.fewest)));
}

}  // namespace traffic::train
