/// Chooses the length of pieces. If too few whole episodes fit into search.minutes, the search
/// compares scripts in pieces: parts of the episodes that begin in the traffic of uncontrolled runs
/// (rollout/traffic/episode.h). The length is a multiple of the interval between the marks that
/// divide an episode (run/course.h).
#pragma once

#include <cstdint>
#include <vector>

#include "run/course.h"
#include "traffic/scene/score.h"

namespace traffic::train {

/// A piece should have at least this simulated time, so that queues can form or dissolve in it. If
/// the time is short, the search tries fewer scripts, but at least two, to run such pieces.
inline constexpr double kShortestPiece_s = 300.0;

/// Share of search.minutes after which the uncontrolled runs end that save the traffic of the
/// pieces. Pieces that begin later in the episode are left out then.
inline constexpr double kSavedShare = 0.4;

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
  /// Whether the run has passed a mark or has reached its own end.
  [[nodiscard]] bool has_reached(std::int64_t mark) const {
    return course.is_whole || static_cast<std::int64_t>(course.reached_s.size()) > mark;
  }
  /// The last mark that the run has reached: marks.count if it has reached its own end.
  [[nodiscard]] std::int64_t last_mark(const EpisodeMarks& marks) const;
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

/// Estimated real time per piece, if `parallel` simulations run at the same time; 0 if no run has
/// shown its speed yet. The estimate is that of a piece in the middle of an episode, since
/// simulations are faster while the network fills.
/// @param length length of the pieces in intervals between marks; marks.count means whole episodes
double piece_seconds(const std::vector<WatchedRun>& runs, const EpisodeMarks& marks,
                     std::int64_t length, int parallel);

/// Chooses the length of the pieces in intervals between marks. It is the largest one with which
/// EpisodesNeeded::wanted pieces fit; if whole episodes fit, it is marks.count. If this is shorter
/// than kShortestPiece_s, it is at most kShortestPiece_s, so long that EpisodesNeeded::fewest
/// pieces fit.
/// @param runs uncontrolled runs of the scenario
/// @param left_s real time that is left for the scenario
std::int64_t choose_piece_length(const std::vector<WatchedRun>& runs, const EpisodeMarks& marks,
                                 int parallel, const EpisodesNeeded& needed, double left_s);

}  // namespace traffic::train
