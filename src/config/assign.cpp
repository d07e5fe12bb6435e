// Stores values in fields of the configuration after checking them (assign.h).
#include "assign.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "traffic/core/text.h"

namespace traffic::config {
namespace {

using Problem = std::optional<std::string>;

std::string with_unit(const Row& row, std::string text) {
  return row.unit.empty() ? text : fmt::format("{} {}", text, row.unit);
}

Problem check_number(const Row& row, double value, const std::string& text) {
  if (!std::isfinite(value)) return fmt::format("found {}, expected a finite number", text);
  if (row.range.contains(value)) return std::nullopt;
  return fmt::format("found {}, expected {}", text, with_unit(row, row.range.describe()));
}

Problem check_string(const Row& row, const std::string& value) {
  const bool control = std::any_of(value.begin(), value.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (control) {
    return fmt::format("found {}, expected a text without control characters", shown(value));
  }
  if (!row.choices.empty()) {
    if (std::find(row.choices.begin(), row.choices.end(), value) != row.choices.end()) {
      return std::nullopt;
    }
    std::string text = fmt::format("found {}, expected {}", shown(value), describe_allowed(row));
    const auto near = nearest_name(value, row.choices);
    if (near && value.size() > 1) {
      text += fmt::format("; did you mean '{}'?", *near);
    }
    return text;
  }
  if (row.refuse != nullptr) {
    if (const std::string why = row.refuse(value); !why.empty()) {
      return fmt::format("found {}, {}", shown(value), why);
    }
  }
  return std::nullopt;
}

Problem wrong_type(std::string_view found, std::string_view expected) {
  return fmt::format("found {}, expected {}", found, with_article(expected));
}

/// There is one function read() for each type of field. It reads `value` into `out`, or returns why
/// it cannot.
Problem read(const Row& /*row*/, const Value& value, bool& out) {
  const auto* flag = std::get_if<bool>(&value.data);
  if (flag == nullptr) return wrong_type(value.type, "boolean (true or false)");
  out = *flag;
  return std::nullopt;
}

Problem read(const Row& row, const Value& value, std::int64_t& out) {
  const auto* number = std::get_if<std::int64_t>(&value.data);
  if (number == nullptr) return wrong_type(value.type, "integer");
  if (auto problem = check_number(row, static_cast<double>(*number), std::to_string(*number))) {
    return problem;
  }
  out = *number;
  return std::nullopt;
}

Problem read(const Row& row, const Value& value, double& out) {
  double number = 0;
  if (const auto* integer = std::get_if<std::int64_t>(&value.data)) {
    number = static_cast<double>(*integer);
  } else if (const auto* real = std::get_if<double>(&value.data)) {
    number = *real;
  } else {
    return wrong_type(value.type, "number");
  }
  if (auto problem = check_number(row, number, fmt::format("{}", number))) return problem;
  out = number;
  return std::nullopt;
}

Problem read(const Row& row, const Value& value, std::string& out) {
  if (const auto* number = std::get_if<std::int64_t>(&value.data); number && row.takes_integers) {
    std::string digits = std::to_string(*number);
    auto problem = check_string(row, digits);
    if (!problem) out = std::move(digits);
    return problem;
  }
  const auto* text = std::get_if<std::string>(&value.data);
  if (text == nullptr) return wrong_type(value.type, "string");
  if (auto problem = check_string(row, *text)) return problem;
  out = *text;
  return std::nullopt;
}

template <typename T>
Problem read(const Row& row, const Value& value, std::vector<T>& out) {
  const auto* list = std::get_if<Value::List>(&value.data);
  if (list == nullptr) {
    return wrong_type(value.type,
                      std::is_same_v<T, double> ? "list of numbers" : "list of strings");
  }
  std::vector<T> items(list->size());
  for (std::size_t i = 0; i < list->size(); ++i) {
    if (const auto problem = read(row, (*list)[i], items[i])) {
      return fmt::format("item {}: {}", i + 1, *problem);
    }
  }
  out = std::move(items);
  return std::nullopt;
}

}  // namespace

std::string shown(std::string_view text) { return fmt::format("'{}'", printable(text)); }

std::string with_article(std::string_view noun) {
  return fmt::format("{} {}", noun.starts_with('i') ? "an" : "a",
                     noun);  // only "integer" begins with a vowel
}

std::optional<std::string> assign(const Row& row, const Value& value, Config& config) {
  return std::visit([&](auto* out) { return read(row, value, *out); }, row.field(config));
}

}  // namespace traffic::config
