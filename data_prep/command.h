/// The subcommands of data_prep. main.cpp calls each add_...() function, which adds one subcommand
/// with its options to the command line. If the user chooses the subcommand, CLI11 stores its
/// function in `chosen` during parsing, and main() calls this function.
#pragma once

#include <functional>
#include <string>

#include "traffic/core/error.h"

namespace CLI {
class App;
}

namespace traffic::data_prep {

/// The function of the chosen subcommand. main() calls it after parsing.
/// @param command_line the command line as the user typed it
using Chosen = std::function<ExitCode(const std::string& command_line)>;

void add_record(CLI::App& app, Chosen& chosen);
void add_convert(CLI::App& app, Chosen& chosen);
void add_merge(CLI::App& app, Chosen& chosen);
void add_split(CLI::App& app, Chosen& chosen);
void add_quantize(CLI::App& app, Chosen& chosen);
void add_normalize(CLI::App& app, Chosen& chosen);
void add_dedupe(CLI::App& app, Chosen& chosen);
void add_inspect(CLI::App& app, Chosen& chosen);
void add_verify(CLI::App& app, Chosen& chosen);
void add_stats(CLI::App& app, Chosen& chosen);

}  // namespace traffic::data_prep
