/// What can be wrong with data sets beyond what opening and reading them checks.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "traffic/data/reader.h"

namespace traffic::data {

/// Reads the whole file: checksums of all chunks, content hash, values that are not finite,
/// dangling indices, vehicles that are twice in a frame, times that do not rise by the frame
/// interval.
/// @return one message a problem, the first 20 and the number of the others; empty if all is well
[[nodiscard]] std::vector<std::string> find_problems(const DatasetReader& file);

/// What files share that they should not: episodes of one scenario, seed and demand in two splits;
/// the same frame content in two episodes. Reads all frames.
[[nodiscard]] std::vector<std::string> find_leaks(
    std::span<const std::shared_ptr<const DatasetReader>> files);

}  // namespace traffic::data
