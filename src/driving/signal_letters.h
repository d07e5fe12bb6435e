/// Which letters of SUMO's signal states are red or yellow for a driver.
#pragma once

#include <cstdint>

namespace traffic::driving {

/// Whether a vehicle must wait at the stop line: red, or red and yellow before the next green.
constexpr bool shows_red(std::uint8_t letter) {
  return letter == 'r' || letter == 'R' || letter == 'u' || letter == 'U';
}

/// Whether a vehicle that can still stop must do so, because red follows.
constexpr bool shows_yellow(std::uint8_t letter) { return letter == 'y' || letter == 'Y'; }

}  // namespace traffic::driving
