/// The features of one vehicle.
#pragma once

#include <span>

#include "traffic/scene/road_state.h"

namespace traffic::scene {

/// Fills one row of GraphFrame::node_features. @param row kNumNodeColumns values
void fill_node_row(const RoadState& state, const Vehicle& vehicle, std::span<float> row);

/// The 16 global metrics.
void fill_global_row(const RoadState& state, std::span<float> row);

}  // namespace traffic::scene
