/// The message of an error that std::filesystem throws, such as too many symbolic links in a path.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>

namespace traffic {

/// "PATH: Too many levels of symbolic links; check the path"
inline std::string path_error_text(const std::filesystem::filesystem_error& error) {
  return fmt::format("{}: {}; check the path", error.path1().string(), error.code().message());
}

}  // namespace traffic
