/// The figures of an episode, and what follows from pairs of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "traffic/train/evaluate/evaluation.h"

namespace traffic::train {

struct Figure {
  const char* name;
  double (*of)(const EvaluatedEpisode&);
  bool whole = false;           ///< a count
  const char* label = nullptr;  ///< its column in a table that fits a terminal; null: it has none
};

using Episodes = std::vector<EvaluatedEpisode>;

/// In the order of every table: first what a terminal shows.
const std::vector<Figure>& figures();

/// What a controller should not have more of than uncontrolled traffic. The last, hard brakes, is
/// said and is no reason against it: who holds vehicles back makes those behind them brake.
const std::vector<Figure>& safety_figures();

/// Of a controller's episodes, in the order of the seeds.
std::vector<double> values_of(const EvaluationPlan& plan, const Episodes& episodes,
                              std::size_t controller, double (*of)(const EvaluatedEpisode&));

std::optional<std::size_t> index_of_none(const EvaluationPlan& plan);

/// Gains over `none`, %, seed by seed.
/// @param objective of which: nothing for that of the plan, env.objective
std::vector<double> gains_of(const EvaluationPlan& plan, const Episodes& episodes,
                             std::size_t controller, std::size_t none,
                             std::optional<scene::Objective> objective = std::nullopt);

}  // namespace traffic::train
