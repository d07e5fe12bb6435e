/// plan_splits() assigns episodes to splits for the command data_prep split. The assignment is
/// random, but episodes with shared traffic stay in the same split.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traffic/data/file_digest.h"

namespace traffic::data_prep {

/// Episodes form a group if they have the same scenario, seed and demand, or a frame with the same
/// content. The groups are taken in random order. Each group goes to the split that is furthest
/// behind its share of the frames.
/// @param shares shares of train, validation and test, which add up to 1
/// @return [files][episodes] split of each episode
[[nodiscard]] std::vector<std::vector<data::Split>> plan_splits(
    std::span<const data::FileDigest> files, std::span<const double> shares, std::uint64_t seed);

}  // namespace traffic::data_prep
