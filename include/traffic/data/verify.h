/// Finds defects of data sets that opening and reading them does not find.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "traffic/data/reader.h"
#include "traffic/data/scene_file.h"

namespace traffic::data {

/// Reads the whole file and looks for damaged chunks, a wrong content hash, values that are not
/// finite, dangling indices, vehicles that a frame has twice, times that do not grow by the frame
/// interval, and movements that no vehicle can make: speeds, accelerations, and displacements that
/// contradict the speeds.
/// @return a message for each of the first 20 problems and the number of the others; empty if the
/// file is sound
/// @param progress receives the number of frames of each read
[[nodiscard]] std::vector<std::string> find_problems(
    const DatasetReader& file,
    const std::function<void(std::int64_t frames)>& progress = [](std::int64_t) {});

/// The same for a file of scenes. It also finds headings that contradict the movements, and
/// vehicles far from the lanes on which they are said to be.
[[nodiscard]] std::vector<std::string> find_problems(
    const SceneReader& file,
    const std::function<void(std::int64_t frames)>& progress = [](std::int64_t) {});

}  // namespace traffic::data
