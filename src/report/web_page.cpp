// Makes HTML pages that need no other file (web_page.h).
#include "web_page.h"

#include <fmt/format.h>

#include "embedded_pages.h"
#include "traffic/core/error.h"
#include "traffic/core/text.h"

namespace traffic::report {
namespace {

/// Escapes JSON for a script element: replaces every '<', so that no text looks like "</script>".
std::string within_script(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

std::string web_page(const WebPage& page) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n"
      "<style>\n{}</style></head>\n<body>\n{}\n"
      "<noscript><p>Pictures need JavaScript.</p></noscript>\n"
      "<script>const data = {};</script>\n",
      html_escaped(page.title), page_file("style.css"), page.body, within_script(page.data));
  for (const std::string_view file : page.files) {
    html += "<script>\n";
    html += page_file(file);
    html += "</script>\n";
  }
  return html + "</body></html>\n";
}

std::string_view page_file(std::string_view name) {
  for (const EmbeddedFile& file : embedded_pages()) {
    if (file.name == name) return file.text;
  }
  throw Error(fmt::format("this program does not contain the page file {}", name));
}

}  // namespace traffic::report
