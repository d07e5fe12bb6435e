/// Learning rate over optimiser steps: linear warm-up, then half a cosine down to a floor.
#pragma once

#include <cstdint>
#include <string_view>

namespace traffic::train {

struct LrSchedule {
  double peak = 1e-3;
  double floor = 1e-6;
  std::int64_t warmup_steps = 0;
  std::int64_t total_steps = 1;

  /// Rate of the update numbered `step` (0-based). A pure function, so a resumed run needs only the
  /// step. Source: Loshchilov and Hutter 2017, arXiv:1608.03983, eq. 5, without restarts.
  [[nodiscard]] double at(std::int64_t step) const;
};

/// On the learning rate of one rank, for a batch that has grown with the ranks.
/// @param scaling none, linear or sqrt
/// Source of linear: Goyal et al. 2017, arXiv:1706.02677.
double learning_rate_factor(std::string_view scaling, int num_ranks);

}  // namespace traffic::train
