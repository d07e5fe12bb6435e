/// The metrics of an episode, and the gains of controllers over `none`.
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
  bool whole = false;           ///< a count, written without decimals
  const char* label = nullptr;  ///< name of its column in overview_table(); null: no column
};

using Episodes = std::vector<EvaluatedEpisode>;

/// All metrics in the order of the tables; metrics with a column in overview_table() come first.
const std::vector<Figure>& figures();

/// Metrics that should not be higher with a controller than without control. The last one is hard
/// brakes. Its excess is reported but does not make a controller unsafe, because holding a vehicle
/// back makes the vehicles behind it brake.
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
/// @param objective the objective of the gains; nothing: env.objective of the plan
std::vector<double> gains_of(const EvaluationPlan& plan, const Episodes& episodes,
                             std::size_t controller, std::size_t none,
                             std::optional<scene::Objective> objective = std::nullopt);

}  // namespace traffic::train
