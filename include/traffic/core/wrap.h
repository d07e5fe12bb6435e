/// Fits text for people into the width of their terminal.
#pragma once

#include <string>
#include <string_view>

namespace traffic {

/// Columns for text on standard output: those of the terminal, from 60 to 120; 80 where standard
/// output is no terminal.
int output_width();

/// Breaks every line that is longer than `width` at spaces. Continuation lines begin under the last
/// column of the line: text that follows two spaces or more, such as the explanation of an option.
/// A word that is longer than a line stays whole.
std::string wrapped(std::string_view text, int width);

}  // namespace traffic
