// Reads a JSON file of a run that contains one object.
#include "traffic/report/json_file.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "traffic/core/error.h"

namespace traffic::report {

std::optional<nlohmann::ordered_json> read_json_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw DataError("{} is a folder or a device, expected a file with a JSON object: move it away",
                    path.string());
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  try {
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(text);
    if (json.is_object()) return json;
  } catch (const nlohmann::json::parse_error& wrong) {
    const auto before = text.substr(0, std::min(wrong.byte, text.size()));
    throw DataError("{}:{}: damaged JSON: {}", path.string(), 1 + std::ranges::count(before, '\n'),
                    wrong.what());
  }
  throw DataError("{}:1: no JSON object", path.string());
}

}  // namespace traffic::report
