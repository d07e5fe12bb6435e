/// Reads TOML text as a flat list of keys and values with their places. Only toml_reader.cpp
/// includes toml++.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace traffic::config {

struct Value {
  using List = std::vector<Value>;
  /// The value; monostate if it has a type that no key may have, such as a date.
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List> data;
  std::string type;  ///< type with its article, for messages: "an integer"
};

/// A key with its value, or the head of a table.
struct Entry {
  std::string key;  ///< dotted, such as a.b; parts with special characters are in quotes
  bool is_table = false;
  Value value;
  std::string key_place;    ///< "line:column" of the key
  std::string value_place;  ///< "line:column" of the value
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// Where and why a text is not TOML.
struct SyntaxError {
  std::string place;  ///< "line:column"
  std::string message;
};

/// Reads all tables and values of a text, in the order of the text. Leaves out the values in a
/// table if `is_known` returns false for the key of the table.
std::variant<std::vector<Entry>, SyntaxError> read_toml(std::string_view text,
                                                        bool (*is_known)(std::string_view key));

/// Reads a single value, such as the value of --set a.b=value.
std::variant<Value, SyntaxError> read_toml_value(std::string_view text);

}  // namespace traffic::config
