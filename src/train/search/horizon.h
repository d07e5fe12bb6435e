/// The horizon of a search: how much of each episode it compares, so that enough episodes fit into
/// search.minutes.
#pragma once

#include <cstdint>
#include <vector>

#include "run/course.h"
#include "traffic/scene/score.h"

namespace traffic::train {

/// A search compares this much simulated time with a full network if possible. Trying all kinds of
/// scripts has precedence, because the evaluations of the training run whole episodes anyway.
inline constexpr double kFullAWhile_s = 120.0;

/// An uncontrolled run that the search watches: how fast it is, and when its network is full.
struct WatchedRun {
  static constexpr std::int64_t kNotSteady = -1;

  Course course{};
  std::int64_t steady_mark = kNotSteady;  ///< first mark at which the traffic is_steady() (score.h)

  /// Notes how far the run has come.
  /// @param time_s simulated time since the start of the episode
  /// @param real_s real time since the run was ordered
  /// @param done whether the run has reached its own end
  void note(double time_s, double real_s, bool done, const scene::EpisodeScore& score,
            const EpisodeMarks& marks, double step_length_s);
};

/// How many episodes should fit into the time of one scenario, besides the watched runs.
struct EpisodesNeeded {
  std::int64_t wanted = 0;  ///< one script of each kind in the rounds, and a final comparison
  std::int64_t fewest = 0;  ///< two scripts, and a final comparison

  static EpisodesNeeded of(std::int64_t scripts, std::int64_t kinds);
};

/// Estimated real time of an episode that ends at a mark, while `parallel` simulations run; 0 if no
/// run has shown its speed yet.
double episode_seconds(const std::vector<WatchedRun>& runs, std::int64_t mark, int parallel);

/// Chooses the mark at which all episodes of a scenario end: the last one if the wanted episodes
/// fit. Otherwise it is the last mark at which the wanted episodes fit. If the network has been
/// full for less than kFullAWhile_s at that mark, it is a later one, with which at least the fewest
/// episodes fit.
/// @param runs uncontrolled runs of the scenario
/// @param left_s real time that is left for the scenario
std::int64_t choose_horizon(const std::vector<WatchedRun>& runs, const EpisodeMarks& marks,
                            int parallel, const EpisodesNeeded& needed, double left_s);

}  // namespace traffic::train
