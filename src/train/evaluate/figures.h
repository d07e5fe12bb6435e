/// Lists the metrics of an episode, which the tables and verdicts of an evaluation show. Also
/// computes the gains of controllers over `none`, the traffic without control.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/train/evaluate/evaluation.h"

namespace traffic::train {

/// A metric of an episode.
struct Figure {
  const char* name;
  double (*of)(const EvaluatedEpisode&);
  bool whole = false;  ///< whether it is a count, which is written without decimals
  /// Name of its column in overview_table(); null if it has no column there.
  const char* label = nullptr;
};

using Episodes = std::vector<EvaluatedEpisode>;

/// Whether the simulations of an evaluation measure emissions.
bool measures_emissions(const EvaluationPlan& plan);

/// The metrics of an evaluation in the order of the tables. They contain emissions only if the
/// evaluation measures them.
const std::vector<Figure>& figures(const EvaluationPlan& plan);

/// Metrics that should not be higher with a controller than without control. The last one is hard
/// brakes. An excess of hard brakes is reported, but does not make a controller unsafe, because
/// every controller that holds a vehicle back makes the vehicles behind it brake.
const std::vector<Figure>& safety_figures();

/// A metric's values in a controller's episodes, in the order of the seeds.
/// @param episodes the result of run_evaluation()
std::vector<double> values_of(const EvaluationPlan& plan, const Episodes& episodes,
                              std::size_t controller, double (*of)(const EvaluatedEpisode&));

/// Excess of a metric with a controller over the same metric with `none`, paired by seed.
/// @param none index of the controller `none`
report::MeanInterval excess_of(const EvaluationPlan& plan, const Episodes& episodes,
                               std::size_t controller, std::size_t none, const Figure& figure);

/// The name of a metric as words: "emergency stops".
std::string words_of(std::string name);

/// Index of the controller `none`; nothing if the plan does not contain it.
std::optional<std::size_t> index_of_none(const EvaluationPlan& plan);

/// A controller's gains over `none` in %, in the order of the seeds.
/// @param none index of the controller `none`
/// @param objective the objective of the gains; by default env.objective of the plan
std::vector<double> gains_of(const EvaluationPlan& plan, const Episodes& episodes,
                             std::size_t controller, std::size_t none,
                             const std::optional<scene::Objective>& objective = std::nullopt);

}  // namespace traffic::train
