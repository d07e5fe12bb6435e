/// Functions that net_reader.cpp calls after it has read a network file (.net.xml): they find the
/// conflicts of the road and the lanes near each lane. NetJunction contains data of the file that
/// only these functions need.
#pragma once

#include <string>
#include <vector>

#include "traffic/scene/road.h"

namespace traffic::scene {

/// A junction's right of way. Links are numbered in the order of the incoming lanes and, within a
/// lane, in the order of its links.
struct NetJunction {
  std::string id;
  std::vector<int> incoming_lanes;
  /// [links] for each link a string with one character for every link, in reverse order (the last
  /// character is link 0); '1': the streams of the two links meet
  std::vector<std::string> foes;
  /// [links] strings like those of `foes`; '1': the link that has the string gives way to the link
  /// at this position
  std::vector<std::string> response;
};

/// Fills Road::conflicts, stretches and lane_approach.
void find_conflicts(Road& road, const std::vector<NetJunction>& junctions);

/// Fills Road::near.
void find_near_lanes(Road& road);

}  // namespace traffic::scene
