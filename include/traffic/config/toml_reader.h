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
  /// monostate: a type that no key may have, such as a date
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List> data;
  std::string type;  ///< with its article, for messages: "an integer"
};

struct Entry {
  std::string key;  ///< dotted; parts that are not bare keys are in quotes
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

/// All tables and values of a document in their order. The values of a table are left out if
/// `is_known` is false for the table's key.
std::variant<std::vector<Entry>, SyntaxError> read_toml(std::string_view text,
                                                        bool (*is_known)(std::string_view key));

/// A single value, e.g. of --set a.b=value.
std::variant<Value, SyntaxError> read_toml_value(std::string_view text);

}  // namespace traffic::config
