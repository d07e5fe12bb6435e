/// Makes HTML pages that need no other file and no network: report.html and replay.html.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace traffic::report {

/// The content of a page.
struct WebPage {
  std::string title;                    ///< plain text
  std::string body;                     ///< HTML
  std::string data;                     ///< JSON that the scripts read as the variable `data`
  std::vector<std::string_view> files;  ///< names of the scripts (see page_file()), in order
};

/// Returns the HTML of the page.
std::string web_page(const WebPage& page);

/// The content of a file of src/report/page, or of Chart.js ("chart.min.js"). The program contains
/// these files.
/// @throws Error if the program contains no file of this name
std::string_view page_file(std::string_view name);

}  // namespace traffic::report
