/// Lists of seeds as people write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace traffic::config {

struct SeedList {
  std::vector<std::uint64_t> seeds;
  std::string refusal;  ///< the expected form, if the text is not a list of seeds; else empty
};

/// "100..119" (both ends), "7" or "1,5,9..12"; each seed once.
SeedList read_seeds(std::string_view text);

}  // namespace traffic::config
