/// A trial: controllers and no control on the same seeds, for a limited real time.
#pragma once

#include <cstddef>
#include <vector>

#include "traffic/train/evaluate/evaluation.h"

namespace traffic::train {

/// The traffic of a trial, and the time that it may take.
struct TrialFrame {
  double seconds = 60.0;       ///< real time that the trial may take
  double episode_s = 0;        ///< simulated time of a whole episode
  double step_length_s = 1.0;  ///< step length of the simulation
};

struct Trial {
  /// The seeds are those on which all controllers have run; there may be none.
  EvaluationPlan plan{};
  std::vector<EvaluatedEpisode> episodes{};  ///< as from run_evaluation(), at the time horizon_s
  double horizon_s = 0;     ///< simulated time, from the start of an episode, that is compared
  bool is_whole = false;    ///< whether horizon_s is the whole episode
  double full_s = 0;        ///< part of horizon_s in which the network was full
  bool is_stopped = false;  ///< whether a signal ended the trial early
  double seconds = 0;       ///< real time that the trial took
  /// Estimated real time of one more seed with whole episodes; 0 if it is not known.
  double whole_seed_s = 0;

  /// Whether the episodes show what a controller does in traffic: they are whole, or the network
  /// was full long enough for a jam to be noticed.
  [[nodiscard]] bool shows_enough() const;
};

/// Runs all controllers of the plan on one seed after the other as long as the time allows. If too
/// few whole episodes fit, it compares the first part of the episodes. The trial ends within about
/// a second after its time has passed or a stop was requested. Call it before this process starts
/// threads.
/// @param plan its first controller is `none`; its seeds are not used
/// @throws Error as run_evaluation() does
Trial run_trial(EvaluationPlan plan, const TrialFrame& frame);

}  // namespace traffic::train
