/// Means over the vehicles of a conflict, for its value.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "traffic/rollout/period.h"

namespace traffic::train {

/// Means of rows ptr[b] .. ptr[b + 1], zero where there are none. @return [B, columns]
torch::Tensor segment_means(const torch::Tensor& rows, const std::vector<std::int64_t>& ptr);

/// A weighted sum of rows for each group of them, and how many rows a group has.
struct Pooling {
  torch::Tensor weights;  ///< [groups, N] 1 / number of rows in the group, or 0
  torch::Tensor counts;   ///< [groups]

  /// @param group [N] of each row. Groups without rows have means of zero.
  Pooling(const std::vector<std::int64_t>& group, std::int64_t groups);
  [[nodiscard]] torch::Tensor mean(const torch::Tensor& rows) const {
    return torch::matmul(weights, rows);
  }
};

/// Before a stop line on an approach that gives way, before one on another, or behind a conflict.
enum VehiclePlace : std::int64_t { kMinorApproach, kOtherApproach, kElsewhere, kNumPlaces };

/// Vehicles of each frame by place: groups frame * kNumPlaces + place.
Pooling pool_vehicles(std::span<const rollout::FrameView* const> frames);

/// Columns of the node features that say how the road is and whether a command is given: what a
/// value needs. Those of single vehicles only let it learn its few episodes by heart.
const std::vector<std::int64_t>& road_columns();

/// The candidates of several observations.
struct Candidates {
  std::vector<std::int64_t> ptr{0};  ///< [B + 1]
  std::vector<std::int64_t> row;     ///< [M] among the nodes of the last frames
  /// [M] (observation * C + conflict) * 2 + 1 where it is on an approach that gives way
  std::vector<std::int64_t> group;
};
/// @param node_ptr where each observation's nodes begin
Candidates find_candidates_of(std::span<const rollout::Period* const> periods,
                              const std::vector<std::int64_t>& node_ptr, std::int64_t conflicts);

}  // namespace traffic::train
