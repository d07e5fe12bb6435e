/// Functions for text that people read: they suggest the nearest name, check and escape characters,
/// and format sizes and durations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace traffic {

/// Smallest number of insertions, deletions, replacements and swaps of neighbouring bytes that turn
/// one name into the other (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate that was probably meant by `name`; nothing if the edit distance of every
/// candidate is above max(2, a third of the length of `name`).
std::optional<std::string_view> nearest_name(std::string_view name,
                                             std::span<const std::string_view> candidates);

/// Whether every byte belongs to a well-formed UTF-8 character.
bool is_utf8(std::string_view text);

/// Makes a text from an unknown source safe to print in a message: returns at most its first 80
/// bytes, with control characters and bytes that are not UTF-8 written like "\x1b".
std::string printable(std::string_view text);

/// `text` with the special characters of HTML replaced by entities.
std::string html_escaped(std::string_view text);

/// A number of things for people: "1 file", "3 files".
/// @param ending what the noun gets in the plural
std::string counted(std::int64_t count, std::string_view noun, std::string_view ending = "s");
/// A size for people: "512 B", "1.5 KiB", "12.0 GiB".
std::string human_bytes(std::int64_t bytes);
/// A duration for people: "340 ms", "12.3 s", "4 min 05 s", "3 h 07 min", "2 d 03 h".
std::string human_duration(double seconds);

}  // namespace traffic
