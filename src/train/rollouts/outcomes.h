/// Functions for the results of episodes: they exchange them between ranks and compute metrics for
/// the log, episodes.csv and the summary.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rollouts/episode_state.h"
#include "traffic/comm/communicator.h"
#include "traffic/report/csv_writer.h"
#include "traffic/report/metrics.h"
#include "traffic/report/paired_statistics.h"

namespace traffic::train {

/// Gives every rank the outcomes of all ranks, in the order of the requests. Requests without an
/// outcome get an empty one with 0 steps. Collective.
/// @param total number of requests of all ranks
std::vector<EpisodeOutcome> share_outcomes(const std::vector<EpisodeOutcome>& mine,
                                           std::int64_t total, comm::Communicator& communicator);

/// Gain of each episode over the episode with the same index in `others`, which has the same
/// traffic, in %.
std::vector<double> gains_over(const std::vector<EpisodeOutcome>& outcomes,
                               const std::vector<EpisodeOutcome>& others,
                               const scene::Objective& objective);

/// Computes SelectionEvaluation::safety_excess.
/// @param uncontrolled episodes of the same seeds, in the same order
/// @param limit allowed increase of each count per run, evaluation.safety_limit
double safety_excess(const std::vector<EpisodeOutcome>& controlled,
                     const std::vector<EpisodeOutcome>& uncontrolled, double limit = 0.0);

/// Mean over the episodes of the vehicle-steps under control (one vehicle during one step).
double mean_cv_steps(const std::vector<EpisodeOutcome>& outcomes);

/// Cost of a control step, mean over the episodes.
double mean_cost(const std::vector<EpisodeOutcome>& outcomes);

/// The result of an evaluation: controlled runs compared with uncontrolled runs of the same seeds.
struct SelectionEvaluation {
  std::vector<EpisodeOutcome> controlled;
  std::vector<double> gains;  ///< gain over no control of each run, in % of the objective
  report::MeanInterval gain;  ///< mean of `gains`
  /// By how much the controlled runs are less safe than allowed. It is a sum over three counts:
  /// emergency stops, emergency brakings and collisions. For each count, take the difference per
  /// run to the runs without control, and the lower end of the 95 % interval of this difference.
  /// A count adds the amount by which this lower end exceeds evaluation.safety_limit, at least 0.
  double safety_excess = 0.0;
  /// Gain in each scenario, by its name; empty if there is only one scenario.
  std::vector<std::pair<std::string, report::MeanInterval>> by_scenario{};
};

/// Metrics of training episodes, such as "rollout/delay_s"; empty if there are no episodes.
/// @param gain gain of all episodes together over no control, in %
report::NamedValues rollout_figures(const std::vector<EpisodeOutcome>& outcomes, double gain);
/// Metrics of an evaluation, such as "eval/gain".
report::NamedValues evaluation_figures(const SelectionEvaluation& evaluation);

/// Writes episodes.csv, one line for each episode.
class EpisodeLog {
 public:
  /// @param resumed_step iteration of the checkpoint that the run resumes from; nothing for a new
  ///   run
  EpisodeLog(const std::filesystem::path& path, std::optional<std::int64_t> resumed_step);
  /// @param kind "train", "eval", or "none" for uncontrolled episodes
  void write(std::int64_t iteration, const std::string& kind,
             const std::vector<EpisodeOutcome>& outcomes);

 private:
  report::CsvWriter csv_;
};

}  // namespace traffic::train
