// Reads TOML text as a flat list of keys and values with their places (toml_reader.h).
#include "traffic/config/toml_reader.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <tuple>

#include "traffic/config/schema.h"

namespace traffic::config {
namespace {

/// Maximum number of dots ('.') in a text. Each point in a key may nest a table one level deeper,
/// and toml++ frees nested tables recursively: 100,000 levels still fit the stack, 300,000 do not.
constexpr std::ptrdiff_t kMaxPoints = 10000;

std::string place_of(const toml::source_position& position) {
  return fmt::format("{}:{}", position.line, position.column);
}

std::string key_part(std::string_view part) {
  const bool bare = !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
  });
  return bare ? std::string(part) : quote(part);
}

Value to_value(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::boolean:
      return {node.as_boolean()->get(), "a boolean"};
    case toml::node_type::integer:
      return {node.as_integer()->get(), "an integer"};
    case toml::node_type::floating_point:
      return {node.as_floating_point()->get(), "a number with a point"};
    case toml::node_type::string:
      return {node.as_string()->get(), "a string"};
    case toml::node_type::array: {
      Value::List list;
      for (const toml::node& item : *node.as_array()) list.push_back(to_value(item));
      return {std::move(list), "a list"};
    }
    case toml::node_type::table:
      return {std::monostate{}, "a table"};
    default:
      return {std::monostate{}, "a date or time"};
  }
}

using IsKnown = bool (*)(std::string_view);

void flatten_table(const toml::table& table, const std::string& prefix, IsKnown is_known,
                   std::vector<Entry>& entries) {
  for (const auto& [key, node] : table) {
    const auto& at = key.source().begin;
    const std::string full_key = prefix + key_part(key.str());
    entries.push_back({.key = full_key,
                       .is_table = node.is_table(),
                       .value = to_value(node),
                       .key_place = place_of(at),
                       .value_place = place_of(node.source().begin),
                       .line = at.line,
                       .column = at.column});
    if (const toml::table* inner = node.as_table(); inner != nullptr && is_known(full_key)) {
      flatten_table(*inner, full_key + ".", is_known, entries);
    }
  }
}

/// Shortens a message of toml++, which may quote any amount of text from the file.
std::string shortened(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  return text.size() <= kLongest ? std::string(text)
                                 : fmt::format("{}...", text.substr(0, kLongest));
}

std::variant<toml::table, SyntaxError> parse_text(std::string_view text) {
  if (std::count(text.begin(), text.end(), '.') > kMaxPoints) {
    return SyntaxError{
        "1:1",
        fmt::format("the text has more than {} dots ('.'), also counting those in file names; "
                    "if data.files lists many files, name them by a glob",
                    kMaxPoints)};
  }
  try {
    return toml::parse(text, std::string_view());
  } catch (const toml::parse_error& error) {
    return SyntaxError{place_of(error.source().begin),
                       fmt::format("not valid TOML: {}", shortened(error.description()))};
  }
}

}  // namespace

std::variant<std::vector<Entry>, SyntaxError> read_toml(std::string_view text, IsKnown is_known) {
  auto parsed = parse_text(text);
  if (auto* error = std::get_if<SyntaxError>(&parsed)) return *error;
  std::vector<Entry> entries;
  flatten_table(std::get<toml::table>(parsed), "", is_known, entries);
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  return entries;
}

std::variant<Value, SyntaxError> read_toml_value(std::string_view text) {
  const auto parsed = parse_text(fmt::format("value = {}\n", text));
  if (const auto* error = std::get_if<SyntaxError>(&parsed)) return *error;
  const auto& table = std::get<toml::table>(parsed);
  if (table.size() != 1) return SyntaxError{"1:1", "more than one value"};
  return to_value(table.begin()->second);
}

}  // namespace traffic::config
