/// Scripts and styles of the pages, which cmake/EmbedFiles.cmake puts into the program.
#pragma once

#include <span>
#include <string_view>

namespace traffic::report {

struct EmbeddedFile {
  std::string_view name;
  std::string_view text;
};

std::span<const EmbeddedFile> embedded_pages();

}  // namespace traffic::report
