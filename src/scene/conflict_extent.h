/// Functions with which conflicts.cpp finds the surroundings of a conflict, a place where streams
/// of traffic meet. They are its zone (the road directly after the stop lines), the road after the
/// zone, and the lights upstream that release its vehicles.
#pragma once

#include <vector>

#include "traffic/scene/road.h"

namespace traffic::scene {

/// Edges onto which vehicles can drive from an edge, except by turning round.
std::vector<int> next_edges(const Road& road, int edge);

/// Adds the road that begins with the edges `exits` to the conflict: the first zone_m to its zone,
/// and the next 500 m to its downstream road.
void spread_conflict(const Road& road, Conflict& conflict, const std::vector<int>& exits,
                     double zone_m);

/// Length of all lanes of these stretches together in km.
double lane_km(const Road& road, const std::vector<Stretch>& stretches);

/// Gives an approach without a light at its stop line the upstream light that releases it.
void add_release_light(const Road& road, Approach& approach);

/// Fills Road::stretches.
void index_stretches(Road& road);

}  // namespace traffic::scene
