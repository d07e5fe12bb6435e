/// Removes lines from a text file. A run may resume at an earlier step than it had reached. The
/// writers of metrics.jsonl and CSV files then remove the lines of later steps with keep_lines().
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace traffic::report {

/// Removes the lines for which `keep` returns false. Also removes a last line without a newline,
/// which a killed process has not completed. Does nothing if the file does not exist.
/// @throws ResourceError if the file cannot be rewritten
void keep_lines(const std::filesystem::path& path,
                const std::function<bool(std::string_view line)>& keep);

}  // namespace traffic::report
