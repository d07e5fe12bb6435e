/// Fits text for people into the width of their terminal.
#pragma once

#include <string>
#include <string_view>

namespace traffic {

/// Width of text on standard output in columns: the width of the terminal, but at least 60 and at
/// most 120. It is 80 if standard output is no terminal.
int output_width();

/// Breaks every line that is longer than `width` at spaces. Two or more spaces within the line
/// separate columns, as in the help of an option. The new lines begin below the last column that
/// starts in the left half of the width. If there is no such column, they have the indentation of
/// the line. A word that is longer than a line stays whole.
std::string wrapped(std::string_view text, int width);

}  // namespace traffic
