/// The scripts, styles and HTML of web pages as constants in the program. cmake/EmbedFiles.cmake
/// generates the implementation.
#pragma once

#include <span>
#include <string_view>

namespace traffic::report {

/// A file of src/report/page.
struct EmbeddedFile {
  std::string_view name;
  std::string_view text;
};

std::span<const EmbeddedFile> embedded_pages();

}  // namespace traffic::report
