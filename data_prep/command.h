/// The subcommands of data_prep. Each adds its options to the command line and runs if the user
/// chooses it.
#pragma once

#include <functional>
#include <string>

#include "traffic/core/error.h"

namespace CLI {
class App;
}

namespace traffic::data_prep {

/// The function of the chosen subcommand, called after parsing with the command line as it was
/// typed.
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
