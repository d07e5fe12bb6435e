/// The option --driver of traffic_eval: compares drivers of single vehicles instead of controllers
/// of traffic.
#pragma once

#include <functional>

#include "eval_arguments.h"
#include "traffic/train/evaluate/evaluation.h"

namespace traffic::apps {

/// Runs every driver in every scenario on every seed.
/// @return the exit code
int compare_drivers(const EvalArguments& arguments, const config::CommonOptions& options,
                    const std::function<void(const train::EvaluationProgress&)>& progress);

}  // namespace traffic::apps
