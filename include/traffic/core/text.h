/// Functions for text that people read: nearest names, encodings, sizes and durations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace traffic {

/// Insertions, deletions, replacements and swaps of neighbours between two names (optimal string
/// alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate that was probably meant by `name`; nothing if the edit distance of every
/// candidate is above max(2, a third of the length of `name`).
std::optional<std::string_view> nearest_name(std::string_view name,
                                             std::span<const std::string_view> candidates);

/// Whether every byte belongs to a well-formed UTF-8 character.
bool is_utf8(std::string_view text);

/// `text` in a form fit for a message, wherever it comes from: at most 80 bytes of it, with control
/// characters and bytes that are not UTF-8 written as "\x1b".
std::string printable(std::string_view text);

/// `text` with the special characters of HTML replaced by entities.
std::string html_escaped(std::string_view text);

/// "512 B", "1.5 KiB", "12.0 GiB"
std::string human_bytes(std::int64_t bytes);
/// "340 ms", "12.3 s", "4 min 05 s", "3 h 07 min", "2 d 03 h"
std::string human_duration(double seconds);

}  // namespace traffic
