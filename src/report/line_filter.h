/// Shortens files of lines when a run resumes at an earlier step than it had reached.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace traffic::report {

/// Keeps the complete lines for which `keep` is true. A last line without a newline, which a killed
/// process leaves, is removed, too. A file that does not exist is ignored.
/// @throws ResourceError
void keep_lines(const std::filesystem::path& path,
                const std::function<bool(std::string_view line)>& keep);

}  // namespace traffic::report
