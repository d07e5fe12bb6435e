/// A board on which every kind of neighbour is near snake 0.
#pragma once

#include "game/recorded_games.h"

namespace traffic::game::testing {

/// Snake 0 heads up in column 10. A bean is ahead, a teammate on its left and an enemy on its
/// right.
inline State crowded_scene() {
  State state;
  state.snakes = {{{at(5, 10), at(6, 10), at(7, 10), at(8, 10)},
                   {at(5, 8), at(6, 8), at(7, 8)},
                   {at(0, 0), at(0, 19), at(0, 18)},
                   {at(4, 11), at(4, 12), at(4, 13), at(4, 14), at(4, 15)},
                   {at(9, 2), at(9, 1), at(9, 0)},
                   {at(2, 2), at(2, 1), at(2, 0)}}};
  state.direction = {kUp, kUp, kRight, kLeft, kRight, kRight};
  state.beans = {at(2, 10), at(5, 9), at(8, 9), at(9, 19)};
  return state;
}

}  // namespace traffic::game::testing
