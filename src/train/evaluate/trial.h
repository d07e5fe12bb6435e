/// Runs a trial for traffic_doctor: it compares controllers with no control on the same seeds,
/// within a limited real time.
#pragma once

#include <cstddef>
#include <vector>

#include "traffic/train/evaluate/evaluation.h"

namespace traffic::train {

/// The time that a trial may take, and the length of its episodes.
struct TrialFrame {
  double seconds = 60.0;       ///< real time that the trial may take
  double episode_s = 0;        ///< simulated time of a whole episode
  double step_length_s = 1.0;  ///< step length of the simulation
};

/// The results of a trial. Its controllers are compared at the same simulated time, the horizon, if
/// whole episodes would take too long.
struct Trial {
  /// The evaluated plan. Its seeds are those on which all controllers have reached horizon_s; there
  /// may be none.
  EvaluationPlan plan{};
  /// Metrics at the time horizon_s, in the order of run_evaluation().
  std::vector<EvaluatedEpisode> episodes{};
  /// Simulated time from the start of an episode, up to which episodes are compared.
  double horizon_s = 0;
  bool is_whole = false;    ///< whether horizon_s is the whole episode
  double full_s = 0;        ///< part of horizon_s in which the network was full of vehicles
  bool is_stopped = false;  ///< whether a signal ended the trial early
  double seconds = 0;       ///< real time that the trial took
  /// Estimated real time of one more seed with whole episodes in seconds; 0 if it is not known.
  double whole_seed_s = 0;

  /// Whether the episodes are long enough to judge a controller: they are whole, or the network was
  /// full for so long that a jam would have been noticed.
  [[nodiscard]] bool shows_enough() const;
};

/// Runs all controllers of the plan on one seed after the other as long as the time allows. If too
/// few whole episodes fit, it compares the first part of the episodes. The trial ends within about
/// a second after its time has passed or a stop was requested. Call this function before the
/// process starts threads.
/// @param plan its first controller is `none`; its seeds are not used
/// @throws Error as run_evaluation() does
Trial run_trial(EvaluationPlan plan, const TrialFrame& frame);

}  // namespace traffic::train
