/// Writes values, types and ranges of keys as text, for TOML, messages and help.
#include <fmt/format.h>

#include <cmath>
#include <type_traits>

#include "traffic/config/schema.h"

namespace traffic::config {
namespace {

/// A TOML float: the shortest text with a point or an exponent that reads back as the same number.
std::string float_text(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string bound_text(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15
             ? fmt::format("{}", static_cast<std::int64_t>(value))
             : fmt::format("{}", value);
}

std::string element(const std::string& text) { return quote(text); }
std::string element(double value) { return float_text(value); }

}  // namespace

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string_view type_name(const Field& field) {
  struct Name {
    std::string_view operator()(const bool*) const { return "boolean"; }
    std::string_view operator()(const std::int64_t*) const { return "integer"; }
    std::string_view operator()(const double*) const { return "number"; }
    std::string_view operator()(const std::string*) const { return "string"; }
    std::string_view operator()(const std::vector<std::string>*) const { return "list of strings"; }
    std::string_view operator()(const std::vector<double>*) const { return "list of numbers"; }
  };
  return std::visit(Name{}, field);
}

std::string to_toml_value(const Field& field) {
  return std::visit(
      [](const auto* value) -> std::string {
        using T = std::remove_cvref_t<decltype(*value)>;
        if constexpr (std::is_same_v<T, bool>) {
          return *value ? "true" : "false";
        } else if constexpr (std::is_same_v<T, std::int64_t>) {
          return std::to_string(*value);
        } else if constexpr (std::is_same_v<T, double>) {
          return float_text(*value);
        } else if constexpr (std::is_same_v<T, std::string>) {
          return quote(*value);
        } else {
          std::string out = "[";
          for (const auto& item : *value) {
            if (out.size() > 1) out += ", ";
            out += element(item);
          }
          return out + "]";
        }
      },
      field);
}

bool Range::contains(double value) const {
  const bool low_ok = low_open ? value > low : value >= low;
  const bool high_ok = high_open ? value < high : value <= high;
  return low_ok && high_ok;
}

std::string Range::describe() const {
  const bool has_low = std::isfinite(low);
  const bool has_high = std::isfinite(high);
  if (has_low && has_high && low == high) return bound_text(low);
  if (has_low && has_high && !low_open && !high_open) {
    return fmt::format("{} to {}", bound_text(low), bound_text(high));
  }
  std::string text;
  if (has_low) text = fmt::format("{} {}", low_open ? ">" : ">=", bound_text(low));
  if (has_high) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " and ",
                        high_open ? "<" : "<=", bound_text(high));
  }
  return text;
}

std::string describe_allowed(const Row& row) {
  if (!row.choices.empty()) return fmt::format("one of {}", fmt::join(row.choices, ", "));
  return row.range.describe();
}

}  // namespace traffic::config
