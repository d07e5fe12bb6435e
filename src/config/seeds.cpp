// Parses lists of seeds, such as "100..119".
#include "traffic/config/seeds.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <set>

namespace traffic::config {
namespace {

constexpr std::uint64_t kLargest = 0x7fffffff;  // SUMO's seeds have 31 bits
constexpr std::uint64_t kMostOfARange = 100000;

std::optional<std::uint64_t> read_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = !text.empty() && error == std::errc() && end == text.data() + text.size();
  return whole && value <= kLargest ? std::optional(value) : std::nullopt;
}

}  // namespace

SeedList read_seeds(std::string_view text) {
  SeedList list;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    const std::size_t dots = part.find("..");
    const auto first = read_number(part.substr(0, dots));
    const auto last = dots == std::string_view::npos ? first : read_number(part.substr(dots + 2));
    if (!first || !last) {
      return {{}, fmt::format("expected numbers up to {} as in 7 or 100..119 or 1,5,9", kLargest)};
    }
    if (*last < *first || *last - *first >= kMostOfARange) {
      return {{}, fmt::format("expected a rising range of at most {} seeds", kMostOfARange)};
    }
    for (std::uint64_t seed = *first; seed <= *last; ++seed) list.seeds.push_back(seed);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  const std::set<std::uint64_t> unique(list.seeds.begin(), list.seeds.end());
  if (unique.size() != list.seeds.size()) return {{}, "expected each seed once"};
  return list;
}

}  // namespace traffic::config
