/// Reads the JSON files of a run that contain one object: summary.json, evaluation.json,
/// search.json.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace traffic::report {

/// Reads the object in a file. Returns nothing if the file does not exist.
/// @throws DataError naming file and line if the content is not a JSON object
std::optional<nlohmann::ordered_json> read_json_file(const std::filesystem::path& path);

}  // namespace traffic::report
