/// Means over the vehicles of a conflict, for its value.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traffic/rollout/traffic/period.h"

namespace traffic::train {

/// Means of rows over groups of them. Rows are added in plain loops: with a few hundred of some
/// dozen columns, tensor operations cost more than the sums.
class GroupMeans {
 public:
  GroupMeans(std::int64_t groups, std::size_t columns)
      : columns_(columns),
        sums_(static_cast<std::size_t>(groups) * columns),
        rows_(static_cast<std::size_t>(groups)) {}

  /// Another row of the group: where its columns are to be added.
  float* add_row(std::int64_t group) {
    ++rows_[static_cast<std::size_t>(group)];
    return sums_.data() + static_cast<std::size_t>(group) * columns_;
  }
  /// Means of some groups, one behind the other, zero where a group has no rows; then how many rows
  /// each has, in units of 20. @return where that ends
  float* write(std::int64_t first_group, std::int64_t groups, float* to) const;

 private:
  std::size_t columns_;
  std::vector<float> sums_;
  std::vector<std::int32_t> rows_;
};

/// Before a stop line on an approach that gives way, before one on another, or behind a conflict.
enum VehiclePlace : std::int64_t { kMinorApproach, kOtherApproach, kElsewhere, kNumPlaces };

VehiclePlace place_of(const scene::FrameView& frame, std::size_t node);

/// Columns of the node features that say how the road is and whether a command is given: what a
/// value needs. Those of single vehicles only let it learn its few episodes by heart.
const std::vector<std::size_t>& road_columns();

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
