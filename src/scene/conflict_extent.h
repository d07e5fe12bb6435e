/// How far a conflict reaches: its zone, what comes after it, and the light that releases a stream.
#pragma once

#include <vector>

#include "traffic/scene/road.h"

namespace traffic::scene {

/// Edges that an edge leads to, turning round left out.
std::vector<int> next_edges(const Road& road, int edge);

/// Fills zone with the first zone_m of everything that `exits` lead to, downstream with what comes
/// after; what is in `zone` already stays.
void spread_conflict(const Road& road, Conflict& conflict, const std::vector<int>& exits,
                     double zone_m);

/// Lane kilometres of stretches.
double lane_km(const Road& road, const std::vector<Stretch>& stretches);

/// An approach without a light at its stop line gets the one further upstream that releases it.
void add_release_light(const Road& road, Approach& approach);

/// Fills Road::stretches.
void index_stretches(Road& road);

}  // namespace traffic::scene
