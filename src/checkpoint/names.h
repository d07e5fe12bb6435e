/// Checks the names of the values of a checkpoint. Snapshot uses it for new values, and Reader for
/// the names in a file.
#pragma once

#include <string_view>

#include "traffic/core/error.h"

namespace traffic::checkpoint {

/// Whether this is a valid part of a name, i.e. of the text between two slashes: 1 to 255 letters,
/// digits and "_.-+", but not "." or "..".
inline bool is_valid_part(std::string_view part) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-+";
  return !part.empty() && part.size() <= 255 && part != "." && part != ".." &&
         part.find_first_not_of(kAllowed) == std::string_view::npos;
}

/// @throws Error if the name is not a list of valid parts joined by '/'
inline void check_name(std::string_view name) {
  for (std::string_view rest = name;;) {
    const auto slash = rest.find('/');
    TRAFFIC_CHECK(is_valid_part(rest.substr(0, slash)),
                  "'{}' is not a valid name of a checkpoint value", name);
    if (slash == std::string_view::npos) return;
    rest.remove_prefix(slash + 1);
  }
}

}  // namespace traffic::checkpoint
