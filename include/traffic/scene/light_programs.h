/// Reads the programs of traffic lights from SUMO's files. A program lists the phases of a light.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "traffic/scene/signal_plan.h"

namespace traffic::scene {

struct LightProgram {
  std::string light;  ///< id of the traffic light
  SignalLogic logic;
};

/// Reads the <tlLogic> elements of a network or an additional file, plain or gzip, and of the files
/// that it includes, in the order of the text. If a light has several programs, SUMO runs the last
/// one that has phases; an element without phases only changes an offset or parameters.
/// @throws DataError if a file cannot be read
std::vector<LightProgram> read_light_programs(const std::filesystem::path& file);

}  // namespace traffic::scene
