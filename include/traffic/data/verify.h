/// What can be wrong with data sets beyond what opening and reading them checks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "traffic/data/reader.h"

namespace traffic::data {

/// Reads the whole file: checksums of all chunks, content hash, values that are not finite,
/// dangling indices, vehicles that are twice in a frame, times that do not rise by the frame
/// interval.
/// @return one message a problem, the first 20 and the number of the others; empty if all is well
/// @param progress told how many frames more have been looked at
[[nodiscard]] std::vector<std::string> find_problems(
    const DatasetReader& file,
    const std::function<void(std::int64_t frames)>& progress = [](std::int64_t) {});

}  // namespace traffic::data
