/// The files that pages are made of, as they were when the program was built
/// (cmake/EmbedFiles.cmake).
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
