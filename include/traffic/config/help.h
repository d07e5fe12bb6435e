/// The schema for people.
#pragma once

#include <string>

namespace traffic::config {

/// Table for a terminal, of --help-config.
std::string help_text();
/// docs/configuration.md, of --help-config=markdown.
std::string help_markdown();

}  // namespace traffic::config
