#include "search/rounds.h"

#include <algorithm>

namespace traffic::train {
namespace {

constexpr std::int64_t kMaxSeeds = 32;
constexpr std::int64_t kKeepOneOf = 3;

/// Number of scripts in each round, which falls towards kFinalists.
std::vector<std::int64_t> shrink(std::int64_t scripts) {
  std::vector<std::int64_t> counts{scripts};
  while ((scripts = std::max(kFinalists, (scripts + kKeepOneOf - 1) / kKeepOneOf)) > kFinalists) {
    counts.push_back(scripts);
  }
  return counts;
}

}  // namespace

std::vector<Round> plan_rounds(std::int64_t scripts, std::int64_t at_least, std::int64_t episodes) {
  const auto share = [&](std::int64_t tried) {
    return episodes / static_cast<std::int64_t>(shrink(tried).size());
  };
  // Tries fewer scripts if there are not enough episodes to run each on kMinSeeds seeds.
  std::int64_t tried = scripts;
  while (tried > at_least && share(tried) < kMinSeeds * (tried + 1)) --tried;
  std::vector<Round> rounds;
  for (const std::int64_t left : shrink(tried)) {
    rounds.push_back(
        {.scripts = left, .seeds = std::clamp(share(tried) / (left + 1), kMinSeeds, kMaxSeeds)});
  }
  return rounds;
}

std::vector<Round> plan_rounds_within(std::int64_t scripts, std::int64_t episodes) {
  if (episodes < Round{.scripts = 1, .seeds = kMinSeeds}.episodes()) return {};
  return plan_rounds(scripts, 1, episodes);
}

std::int64_t count_episodes(const std::vector<Round>& rounds) {
  std::int64_t sum = 0;
  for (const Round& round : rounds) sum += round.episodes();
  return sum;
}

}  // namespace traffic::train
