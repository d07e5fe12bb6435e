/// Parses lists of seeds, such as "100..119".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace traffic::config {

struct SeedList {
  std::vector<std::uint64_t> seeds;
  std::string refusal;  ///< what was expected, if the text is not a list of seeds; otherwise empty
};

/// Reads a text such as "100..119" (with both ends), "7" or "1,5,9..12". It may contain each seed
/// only once.
SeedList read_seeds(std::string_view text);

}  // namespace traffic::config
