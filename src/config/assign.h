/// Stores a value in a field of the configuration, after checking it against the field's row in the
/// schema (type, range, allowed values).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "traffic/config/schema.h"
#include "traffic/config/toml_reader.h"

namespace traffic::config {

/// Stores the value. If the row does not allow it, leaves the field unchanged and returns a text
/// that says what was found and what was expected. An integer is accepted where a number is
/// expected; no other type is converted.
std::optional<std::string> assign(const Row& row, const Value& value, Config& config);

/// printable(text) in single quotes.
std::string shown(std::string_view text);
/// The noun with its article: "an integer", "a list of strings".
std::string with_article(std::string_view noun);

}  // namespace traffic::config
