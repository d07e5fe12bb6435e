/// Assigns episodes to splits at random, but keeps episodes with shared traffic in one split.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traffic/data/file_digest.h"

namespace traffic::data_prep {

/// Episodes form a group if they have the same scenario, seed and demand, or a frame with the same
/// content. Groups go in random order to the split that is furthest behind its share of the frames.
/// @param shares of train, validation and test; add up to 1
/// @return [files][episodes]
[[nodiscard]] std::vector<std::vector<data::Split>> plan_splits(
    std::span<const data::FileDigest> files, std::span<const double> shares, std::uint64_t seed);

}  // namespace traffic::data_prep
