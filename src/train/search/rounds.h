/// Plans the rounds of a search for scripts (successive halving): how many scripts run on how many
/// seeds in each round.
///
/// The first round runs many scripts on few seeds. Each further round runs the best third of the
/// scripts on more seeds. Two scripts are left for the final comparison. All rounds have about the
/// same number of episodes. Source: Jamieson and Talwalkar 2016, arXiv:1502.07943.
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
/// Minimum number of seeds of a final comparison, if the time suffices. With fewer seeds, the
/// interval of a gain is too wide to show that it is above 0.
inline constexpr std::int64_t kMinFinalSeeds = 4;
/// Number of scripts in the final comparison.
inline constexpr std::int64_t kFinalists = 2;

/// Plans the rounds before the final comparison.
/// @param scripts number of scripts that could be tried
/// @param at_least number of scripts that are tried even if this takes more than the given episodes
/// @param episodes approximate number of episodes of all rounds
std::vector<Round> plan_rounds(std::int64_t scripts, std::int64_t at_least, std::int64_t episodes);

/// Like plan_rounds(), but all rounds together never have more than `episodes` episodes. Returns no
/// rounds if the episodes are too few to compare a single script with no control.
std::vector<Round> plan_rounds_within(std::int64_t scripts, std::int64_t episodes);

/// Number of episodes of all rounds.
std::int64_t count_episodes(const std::vector<Round>& rounds);

}  // namespace traffic::train
