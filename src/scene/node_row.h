/// Computes the rows of the feature tables (columns.h): features of a vehicle, of the whole traffic
/// and of an edge between two vehicles. The frame builders use these functions.
#pragma once

#include <array>
#include <span>

#include "traffic/scene/road_state.h"

namespace traffic::scene {

/// Fills one row of GraphFrame::node_features.
/// @param row kNumNodeColumns values
void fill_node_row(const RoadState& state, const Vehicle& vehicle, std::span<float> row);

/// Inputs of the global features besides the vehicles.
struct TrafficTotals {
  double waiting = 0;      ///< number of vehicles that want to enter and cannot
  double arrived_30s = 0;  ///< number of vehicles that arrived in the last 30 s
  double time_share = 0;   ///< result of time_share()
};

/// Fills the 16 global features.
/// @param row kNumGlobalColumns values
void fill_global_row(std::span<const Vehicle> vehicles, const TrafficTotals& totals,
                     std::span<float> row);

/// The 4 features of an edge.
/// @param ahead_m how far the neighbour is ahead along the road; negative: behind
/// @param same_path whether one vehicle can follow the other without a lane change
std::array<float, 4> edge_row(const Vehicle& own, const Vehicle& neighbour, double ahead_m,
                              bool same_path);

/// Share of the episode that has passed, at most 1. If end_s is 0 (no end), the share of an hour.
double time_share(double time_s, double end_s);

}  // namespace traffic::scene
