/// Compares planned with recorded ways: the policy beside simple predictions.
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

/// Means over samples for one predictor.
struct OpenLoopRow {
  std::string name;
  double l2_1s_m = 0.0;  ///< distance to the recorded position after 1, 2 and 3 s
  double l2_2s_m = 0.0;
  double l2_3s_m = 0.0;
  double min_ade_m = 0.0;          ///< mean distance of the best of 6 plans
  double min_fde_m = 0.0;          ///< distance at the end of the best of 6 plans
  double miss_percent = 0.0;       ///< best of 6 plans further than 2 m away at the end
  double off_road_percent = 0.0;   ///< planned positions with the vehicle's centre off the road
  double collision_percent = 0.0;  ///< plans that overlap a recorded vehicle
};

struct OpenLoop {
  std::int64_t samples = 0;
  std::vector<OpenLoopRow> rows;  ///< the policy, constant velocity, constant turn rate and
                                  ///< acceleration, the recorded way
};

/// Collective. Each rank evaluates its share of samples that are spread evenly over the data.
OpenLoop compare_plans(Policy& policy, const SceneSet& scenes, std::int64_t max_samples,
                       comm::Communicator& communicator);

/// "val/l2_3s_m" and further ones for the policy.
report::NamedValues metrics_of(const OpenLoop& result);
/// Prints the table.
void print_open_loop(const OpenLoop& result);

}  // namespace traffic::train::driving_policy
