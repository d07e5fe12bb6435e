/// Which split each episode of some files gets: at random, but never two that belong together in
/// different ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traffic/data/file_digest.h"

namespace traffic::data_prep {

/// Episodes belong together if they have the scenario, seed and demand of each other or share the
/// content of a frame. Groups are dealt out in a random order, each to the split that is furthest
/// behind its share of the frames.
/// @param shares of train, validation and test; add up to 1
/// @return [files][episodes]
[[nodiscard]] std::vector<std::vector<data::Split>> plan_splits(
    std::span<const data::FileDigest> files, std::span<const double> shares, std::uint64_t seed);

}  // namespace traffic::data_prep
