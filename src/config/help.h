/// Writes the explanations of the configuration for --help-config, from the schema.
#pragma once

#include <string>
#include <string_view>

namespace traffic::config {

/// The trainings that the program knows, one line for each.
std::string list_trainings();

/// The text of --help-config: keys with their defaults, allowed values and explanations.
/// @param filter a table ("ppo"), a key ("ppo.gamma"), or a word within a key or its
/// explanation; empty means all keys
/// @param width columns of the terminal
/// @throws ConfigError if no table, key or explanation contains the filter
std::string help_text(std::string_view filter, int width);

/// The text of --help-config=markdown, which is the reference page of the configuration.
std::string help_markdown();

}  // namespace traffic::config
