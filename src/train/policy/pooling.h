/// Computes means over groups of vehicles. They are the inputs from which the value network
/// estimates the value of a conflict, a place where streams of traffic meet.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traffic/rollout/traffic/period.h"

namespace traffic::train {

/// Sums rows by group and computes the means. Callers add rows in plain loops, because for a few
/// hundred short rows the overhead of tensor operations would exceed the cost of the sums.
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

/// Where a vehicle is. kMinorApproach is before a stop line on an approach that gives way or ends,
/// kOtherApproach before a stop line on another approach, and kElsewhere in or after the zone of a
/// conflict.
enum VehiclePlace : std::int64_t { kMinorApproach, kOtherApproach, kElsewhere, kNumPlaces };

VehiclePlace place_of(const scene::FrameView& frame, std::size_t node);

/// Columns of the node features that the value network reads: the state of the road, and which
/// vehicles are commanded. Other features of single vehicles are left out, because with them the
/// network would only memorise the few episodes of a training.
const std::vector<std::size_t>& road_columns();

/// The candidates of several observations.
struct Candidates {
  std::vector<std::int64_t> ptr{0};  ///< [B + 1] first candidate of each observation
  std::vector<std::int64_t> row;     ///< [M] index among the nodes of all last frames
  /// [M] number of the candidate's group: (observation * C + conflict) * 2, plus 1 if the candidate
  /// is on an approach that gives way or ends
  std::vector<std::int64_t> group;
};
/// Lists the candidates of B periods.
/// @param node_ptr [B + 1] first node of each observation
/// @param conflicts C, number of conflicts
Candidates find_candidates_of(std::span<const rollout::Period* const> periods,
                              const std::vector<std::int64_t>& node_ptr, std::int64_t conflicts);

}  // namespace traffic::train
