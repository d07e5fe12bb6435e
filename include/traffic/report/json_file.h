/// Reads the JSON files of a run that hold one object: summary.json, evaluation.json, search.json.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace traffic::report {

/// The object in a file; nothing if there is no such file.
/// @throws DataError naming file and line if it holds no JSON object
std::optional<nlohmann::ordered_json> read_json_file(const std::filesystem::path& path);

}  // namespace traffic::report
