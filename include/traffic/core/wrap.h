/// Fits text for people into the width of their terminal.
#pragma once

#include <string>
#include <string_view>

namespace traffic {

/// Width of text on standard output in columns: the width of the terminal, but at least 60 and at
/// most 120. It is 80 if standard output is no terminal.
int output_width();

/// Breaks every line that is longer than `width` at spaces. The new lines are indented: they begin
/// below the last text of the line that follows two or more spaces, such as the explanation of an
/// option. Text in the right half of the width does not count. A word that is longer than a line
/// stays whole.
std::string wrapped(std::string_view text, int width);

}  // namespace traffic
