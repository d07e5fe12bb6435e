/// What became of episodes: shared by all ranks, as figures for logs, spreadsheets and the summary.
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

/// The outcomes of all ranks in the order of the requests; the same on all of them. Collective.
/// @param total number of requests of all ranks
std::vector<EpisodeOutcome> share_outcomes(const std::vector<EpisodeOutcome>& mine,
                                           std::int64_t total, comm::Communicator& communicator);

/// Gains over other episodes of the same traffic, %, one by one.
std::vector<double> gains_over(const std::vector<EpisodeOutcome>& outcomes,
                               const std::vector<EpisodeOutcome>& others,
                               scene::Objective objective);

/// SelectionEvaluation::safety_excess of episodes and the uncontrolled ones of the same seeds.
/// @param limit of each figure, evaluation.safety_limit
double safety_excess(const std::vector<EpisodeOutcome>& controlled,
                     const std::vector<EpisodeOutcome>& uncontrolled, double limit = 0.0);

/// Vehicle-steps under control, mean of an episode.
double mean_cv_steps(const std::vector<EpisodeOutcome>& outcomes);

/// Cost of a control step, mean of the episodes.
double mean_cost(const std::vector<EpisodeOutcome>& outcomes);

/// Controlled runs of the selection seeds beside the uncontrolled ones.
struct SelectionEvaluation {
  std::vector<EpisodeOutcome> controlled;
  std::vector<double> gains;  ///< of the objective, %, of each selection seed
  report::MeanInterval gain;
  /// Emergency stops and collisions a run that there are more of than without control, beyond the
  /// 95 % interval of each and evaluation.safety_limit.
  double safety_excess = 0.0;
  /// The same of each scenario; empty when there is but one.
  std::vector<std::pair<std::string, report::MeanInterval>> by_scenario{};
};

/// @param gain over no control of all of them together, %
report::NamedValues rollout_figures(const std::vector<EpisodeOutcome>& outcomes, double gain);
report::NamedValues evaluation_figures(const SelectionEvaluation& evaluation);

/// episodes.csv.
class EpisodeLog {
 public:
  EpisodeLog(const std::filesystem::path& path, std::optional<std::int64_t> resumed_step);
  /// @param kind train, eval or none
  void write(std::int64_t iteration, const std::string& kind,
             const std::vector<EpisodeOutcome>& outcomes);

 private:
  report::CsvWriter csv_;
};

}  // namespace traffic::train
