/// Means over groups of vehicles, from which the value of a conflict is computed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traffic/rollout/traffic/period.h"

namespace traffic::train {

/// Means of rows over groups. Callers add rows in plain loops: for a few hundred rows with a few
/// dozen columns, the overhead of tensor operations would exceed the cost of the sums.
class GroupMeans {
 public:
  GroupMeans(std::int64_t groups, std::size_t columns)
      : columns_(columns),
        sums_(static_cast<std::size_t>(groups) * columns),
        rows_(static_cast<std::size_t>(groups)) {}

  /// Counts another row of the group.
  /// @return the sums of the group, to which the caller adds the columns of the row
  float* add_row(std::int64_t group) {
    ++rows_[static_cast<std::size_t>(group)];
    return sums_.data() + static_cast<std::size_t>(group) * columns_;
  }
  /// Writes the means of some groups (zeros for a group without rows), and then for each of these
  /// groups its number of rows divided by 20.
  /// @return the end of the written numbers
  float* write(std::int64_t first_group, std::int64_t groups, float* to) const;

 private:
  std::size_t columns_;
  std::vector<float> sums_;
  std::vector<std::int32_t> rows_;
};

/// Where a vehicle is: before a stop line on an approach that gives way or ends, before a stop line
/// on another approach, or in or after the zone of a conflict.
enum VehiclePlace : std::int64_t { kMinorApproach, kOtherApproach, kElsewhere, kNumPlaces };

VehiclePlace place_of(const scene::FrameView& frame, std::size_t node);

/// Columns of the node features that the value reads: the state of the road, and which vehicles are
/// commanded. Other features of single vehicles are left out, because with them the value would
/// only memorise its few episodes.
const std::vector<std::size_t>& road_columns();

/// The candidates of several observations.
struct Candidates {
  std::vector<std::int64_t> ptr{0};  ///< [B + 1] first candidate of each observation
  std::vector<std::int64_t> row;     ///< [M] index among the nodes of all last frames
  /// [M] (observation * C + conflict) * 2, plus 1 on an approach that gives way or ends
  std::vector<std::int64_t> group;
};
/// @param node_ptr [B + 1] first node of each observation
/// @param conflicts C
Candidates find_candidates_of(std::span<const rollout::Period* const> periods,
                              const std::vector<std::int64_t>& node_ptr, std::int64_t conflicts);

}  // namespace traffic::train
