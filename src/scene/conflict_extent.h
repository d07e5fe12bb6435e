/// Functions with which conflicts.cpp finds the extent of a conflict: its zone, the road downstream
/// of the zone, and the lights upstream that release its vehicles.
#pragma once

#include <vector>

#include "traffic/scene/road.h"

namespace traffic::scene {

/// Edges onto which vehicles can drive from an edge, except by turning round.
std::vector<int> next_edges(const Road& road, int edge);

/// Adds the first zone_m of the road that begins with the edges `exits` to the conflict's zone, and
/// the road after this part to the conflict's downstream road.
void spread_conflict(const Road& road, Conflict& conflict, const std::vector<int>& exits,
                     double zone_m);

/// Length of all lanes of these stretches together in km.
double lane_km(const Road& road, const std::vector<Stretch>& stretches);

/// Gives an approach without a light at its stop line the upstream light that releases it.
void add_release_light(const Road& road, Approach& approach);

/// Fills Road::stretches.
void index_stretches(Road& road);

}  // namespace traffic::scene
