/// Shortens files of lines when a run goes on from an earlier step than it had reached.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace traffic::report {

/// Keeps the complete lines for which `keep` is true; a file that is not there is none's business.
/// A last line without its newline, which a killed process leaves, goes too.
/// @throws ResourceError
void keep_lines(const std::filesystem::path& path,
                const std::function<bool(std::string_view line)>& keep);

}  // namespace traffic::report
