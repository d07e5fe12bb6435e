/// The parts of a .net.xml that find_conflicts needs besides the Road itself.
#pragma once

#include <string>
#include <vector>

#include "traffic/scene/road.h"

namespace traffic::scene {

/// A junction's right of way. Links are numbered by incoming lane, then by the lane's links.
struct NetJunction {
  std::string id;
  std::vector<int> incoming_lanes;
  /// [links] one character per link, the last one is link 0; '1': the streams meet
  std::vector<std::string> foes;
  /// [links] in the same order; '1': the link gives way to the link of that character
  std::vector<std::string> response;
};

/// Fills Road::conflicts, stretches and lane_approach.
void find_conflicts(Road& road, const std::vector<NetJunction>& junctions);

/// Fills Road::near.
void find_near_lanes(Road& road);

}  // namespace traffic::scene
