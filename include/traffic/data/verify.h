/// Checks the whole content of a data set file, for the command data_prep verify. It finds more
/// defects than the readers do.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "traffic/data/reader.h"
#include "traffic/data/scene_file.h"

namespace traffic::data {

/// Reads the whole file. Finds damaged chunks, a wrong content hash, values that are not finite,
/// indices out of range, vehicles that a frame has twice, and times that do not grow by the frame
/// interval. Also finds impossible movements: speeds and accelerations that no vehicle has, and
/// displacements that contradict the speeds.
/// @param progress called after each read with the number of frames that were read
/// @return a message for each of the first 20 problems, and the number of further problems; empty
///   if there is no problem
[[nodiscard]] std::vector<std::string> find_problems(
    const DatasetReader& file,
    const std::function<void(std::int64_t frames)>& progress = [](std::int64_t) {});

/// Does the same for a file of scenes. Also finds headings that contradict the movements, and
/// vehicles that are far from their lanes.
[[nodiscard]] std::vector<std::string> find_problems(
    const SceneReader& file,
    const std::function<void(std::int64_t frames)>& progress = [](std::int64_t) {});

}  // namespace traffic::data
