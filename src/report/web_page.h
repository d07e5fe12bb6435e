/// Pages for a browser that need no other file and no network.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace traffic::report {

struct WebPage {
  std::string title;                    ///< text
  std::string body;                     ///< HTML
  std::string data;                     ///< JSON that the scripts read as the variable `data`
  std::vector<std::string_view> files;  ///< scripts by name, see page_file
};

std::string web_page(const WebPage& page);

/// A file of src/report/page or of a library, which is part of the program.
/// @throws Error if there is none of that name
std::string_view page_file(std::string_view name);

}  // namespace traffic::report
