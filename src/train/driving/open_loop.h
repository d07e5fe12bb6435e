/// Evaluates a driving policy on recorded scenes, without driving: compares the plans of the
/// policy, and simple predictions, with the ways that vehicles took in the recordings. A plan
/// consists of the positions in the next three seconds.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "driving/policy.h"
#include "driving/scene_batches.h"
#include "traffic/comm/communicator.h"
#include "traffic/report/metrics.h"

namespace traffic::train::driving_policy {

/// Means over samples for one predictor. The first plan of a predictor is its most probable plan.
/// Simple predictors have only one plan.
struct OpenLoopRow {
  std::string name;
  double l2_1s_m = 0.0;           ///< distance of the first plan to the recorded position after 1 s
  double l2_2s_m = 0.0;           ///< the distance after 2 s
  double l2_3s_m = 0.0;           ///< the distance after 3 s
  double min_ade_m = 0.0;         ///< smallest mean distance among the first 6 plans
  double min_fde_m = 0.0;         ///< smallest distance after 3 s among the first 6 plans
  double miss_percent = 0.0;      ///< samples whose smallest distance after 3 s is above 2 m
  double off_road_percent = 0.0;  ///< share of the positions of the first plan that are on no lane
  double collision_percent = 0.0;  ///< samples whose first plan overlaps a recorded vehicle
};

/// The result of compare_plans().
struct OpenLoop {
  std::int64_t samples = 0;
  std::vector<OpenLoopRow> rows;  ///< the policy, constant velocity, constant turn rate and
                                  ///< acceleration, the recorded way
};

/// Collective. Evaluates at most max_samples samples, spread evenly over the data; each rank
/// evaluates its share.
OpenLoop compare_plans(Policy& policy, const SceneSet& scenes, std::int64_t max_samples,
                       comm::Communicator& communicator);

/// Metrics of the policy, such as "val/l2_3s_m".
report::NamedValues metrics_of(const OpenLoop& result);
/// Prints the rows as a table to standard output.
void print_open_loop(const OpenLoop& result);

}  // namespace traffic::train::driving_policy
