/// Values that are allowed each for itself but not together.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "traffic/config/config.h"

namespace traffic::config {

struct Contradiction {
  std::vector<std::string_view>
      keys;  ///< whose values are concerned; the first is the one to blame
  std::string message;
};

std::vector<Contradiction> find_contradictions(const Config& config);

}  // namespace traffic::config
