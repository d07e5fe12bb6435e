/// Successive halving: how many scripts run on how many seeds.
///
/// The first round runs many scripts on few seeds. Each further round runs the best third of them
/// on more seeds, until two are left. All rounds have about as many episodes. Source: Jamieson and
/// Talwalkar 2016, arXiv:1502.07943.
#pragma once

#include <cstdint>
#include <vector>

namespace traffic::train {

struct Round {
  std::int64_t scripts = 0;  ///< number of scripts
  std::int64_t seeds = 0;    ///< number of new seeds, the same for all scripts
  /// Number of episodes, including an uncontrolled one for each seed.
  [[nodiscard]] std::int64_t episodes() const { return (scripts + 1) * seeds; }
};

/// Minimum number of seeds on which a script runs: a single one gives no interval.
inline constexpr std::int64_t kMinSeeds = 2;
/// Number of seeds of a final comparison, if the time suffices: with fewer seeds the interval of a
/// gain is too wide to show it.
inline constexpr std::int64_t kMinFinalSeeds = 4;
/// Number of scripts in the final comparison.
inline constexpr std::int64_t kFinalists = 2;

/// Plans the rounds before the final comparison.
/// @param scripts number of scripts that could be tried
/// @param at_least number of scripts that are tried even if the episodes do not suffice
/// @param episodes approximate number of episodes of all rounds
std::vector<Round> plan_rounds(std::int64_t scripts, std::int64_t at_least, std::int64_t episodes);

/// Like plan_rounds(), but never with more than `episodes` in all. Returns no rounds if these are
/// too few to compare one script with no control.
std::vector<Round> plan_rounds_within(std::int64_t scripts, std::int64_t episodes);

/// Number of episodes of all rounds.
std::int64_t count_episodes(const std::vector<Round>& rounds);

}  // namespace traffic::train
