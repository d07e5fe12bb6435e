/// Chooses the horizon of a search: the simulated time up to which it compares episodes, so that
/// enough episodes fit into search.minutes. The horizon is one of the marks that divide an episode
/// into equal intervals (run/course.h).
#pragma once

#include <cstdint>
#include <vector>

#include "run/course.h"
#include "traffic/scene/score.h"

namespace traffic::train {

/// The horizon should include this much simulated time with a full network. If the time is short,
/// trying enough scripts has precedence, because the evaluations of the training run whole episodes
/// anyway.
inline constexpr double kFullAWhile_s = 120.0;

/// An uncontrolled run that the search watches to learn how fast simulations are, and when the
/// network is full.
struct WatchedRun {
  static constexpr std::int64_t kNotSteady = -1;

  Course course{};
  std::int64_t steady_mark = kNotSteady;  ///< first mark at which the traffic is_steady() (score.h)

  /// Notes how far the run has come.
  /// @param time_s simulated time since the start of the episode
  /// @param real_s real time since the start of the run
  /// @param done whether the run has reached its own end
  void note(double time_s, double real_s, bool done, const scene::EpisodeScore& score,
            const EpisodeMarks& marks, double step_length_s);
};

/// The number of episodes that should fit into the time of one scenario. The watched runs do not
/// count.
struct EpisodesNeeded {
  std::int64_t wanted = 0;  ///< for one script of each kind in the rounds, and a final comparison
  std::int64_t fewest = 0;  ///< for two scripts in one round, and a final comparison

  /// @param scripts number of scripts that could be tried
  /// @param kinds number of their kinds
  static EpisodesNeeded of(std::int64_t scripts, std::int64_t kinds);
};

/// Estimated real time per episode that ends at a mark, if `parallel` simulations run at the same
/// time; 0 if no run has shown its speed yet.
double episode_seconds(const std::vector<WatchedRun>& runs, std::int64_t mark, int parallel);

/// Chooses the mark at which all episodes of a scenario end. It is the last mark with which
/// EpisodesNeeded::wanted episodes fit; if whole episodes fit, that is the end of the episode. If
/// the network has been full for less than kFullAWhile_s at that mark, a later mark is chosen, with
/// which at least EpisodesNeeded::fewest episodes fit.
/// @param runs uncontrolled runs of the scenario
/// @param left_s real time that is left for the scenario
std::int64_t choose_horizon(const std::vector<WatchedRun>& runs, const EpisodeMarks& marks,
                            int parallel, const EpisodesNeeded& needed, double left_s);

}  // namespace traffic::train
