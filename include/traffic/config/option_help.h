/// Writes the text of --help, in the same layout for all programs.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace traffic::config {

/// Explains the options of a program, or of the subcommand that was chosen, in lines that fit the
/// terminal.
std::string option_help(CLI::App& app);

}  // namespace traffic::config
