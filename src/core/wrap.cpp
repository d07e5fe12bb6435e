// Breaks text for people into lines that fit their terminal.
#include "traffic/core/wrap.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace traffic {
namespace {

constexpr int kDefaultWidth = 80;
constexpr int kNarrowest = 60;
constexpr int kWidest = 120;  // longer lines are hard to read

/// Number of characters of a UTF-8 text, each of which takes one column.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

/// Column at which the second and later lines begin when a line is broken. It is the column of the
/// last text after two or more spaces, if at least half of the width remains there. Otherwise it is
/// the line's own indentation.
std::size_t hanging_indent(std::string_view line, std::size_t width) {
  const std::size_t own = std::min(line.find_first_not_of(' '), line.size());
  std::size_t indent = own;
  for (std::size_t gap = own; (gap = line.find("  ", gap)) != std::string_view::npos;) {
    const std::size_t text = line.find_first_not_of(' ', gap);
    if (text == std::string_view::npos || 2 * text > width) break;
    indent = text;
    gap = text;
  }
  return indent;
}

/// Appends the line, broken into lines of at most `width` columns. The text before the column
/// hanging_indent() stays as it is.
void append_wrapped(std::string& out, std::string_view line, std::size_t width) {
  if (columns(line) <= width) {
    out += line;
    return;
  }
  const std::size_t indent = hanging_indent(line, width);
  out += line.substr(0, indent);
  std::size_t column = columns(line.substr(0, indent));
  bool begins_line = true;
  for (std::size_t begin = indent; (begin = line.find_first_not_of(' ', begin)) != line.npos;) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    if (!begins_line && column + 1 + columns(word) > width) {
      out += '\n';
      out.append(indent, ' ');
      column = indent;
    } else if (!begins_line) {
      out += ' ';
      ++column;
    }
    out += word;
    column += columns(word);
    begins_line = false;
    begin = end;
  }
}

}  // namespace

int output_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kDefaultWidth;
  return std::clamp<int>(size.ws_col, kNarrowest, kWidest);
}

std::string wrapped(std::string_view text, int width) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    append_wrapped(out, text.substr(0, end), static_cast<std::size_t>(width));
    if (end == std::string_view::npos) break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace traffic
