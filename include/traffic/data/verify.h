/// Finds defects of data sets that opening and reading them does not find.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "traffic/data/reader.h"
#include "traffic/data/scene_file.h"

namespace traffic::data {

/// Reads the whole file. Finds damaged chunks, a wrong content hash, values that are not finite,
/// dangling indices, vehicles that a frame has twice, and times that do not grow by the frame
/// interval. Also finds movements that no vehicle can make: speeds, accelerations, and
/// displacements that contradict the speeds.
/// @return a message for each of the first 20 problems and the number of the others; empty if the
/// file is sound
/// @param progress receives the number of frames of each read
[[nodiscard]] std::vector<std::string> find_problems(
    const DatasetReader& file,
    const std::function<void(std::int64_t frames)>& progress = [](std::int64_t) {});

/// Does the same for a file of scenes. Also finds headings that contradict the movements, and
/// vehicles that are far from their lanes.
[[nodiscard]] std::vector<std::string> find_problems(
    const SceneReader& file,
    const std::function<void(std::int64_t frames)>& progress = [](std::int64_t) {});

}  // namespace traffic::data
