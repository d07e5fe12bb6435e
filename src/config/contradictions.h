/// Finds values of different keys that are allowed separately but not together.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "traffic/config/config.h"

namespace traffic::config {

/// Values that are not allowed together.
struct Contradiction {
  std::vector<std::string_view>
      keys;  ///< keys whose values contradict each other; messages name the first key
  std::string message;
};

/// All contradictions in a configuration; empty if there are none.
std::vector<Contradiction> find_contradictions(const Config& config);

}  // namespace traffic::config
