/// The schema for people.
#pragma once

#include <string>

namespace traffic::config {

/// The trainings that the program knows, a line each.
std::string list_trainings();
/// Table for a terminal, of --help-config.
std::string help_text();
/// docs/reference/configuration.md, of --help-config=markdown.
std::string help_markdown();

}  // namespace traffic::config
