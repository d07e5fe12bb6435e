/// parse_finite() parses a number in a recording.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace traffic::data_prep {

/// The number that the text represents. nullopt if the text has other characters or the number is
/// not finite.
inline std::optional<double> parse_finite(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

}  // namespace traffic::data_prep
