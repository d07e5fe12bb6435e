/// Successive halving: how many scripts run on how many seeds.
///
/// Many scripts on few seeds, then the best third of them on more seeds, until two are left; every
/// round has about as many episodes. Source: Jamieson and Talwalkar 2016, arXiv:1502.07943.
#pragma once

#include <cstdint>
#include <vector>

namespace traffic::train {

struct Round {
  std::int64_t scripts = 0;  ///< that run, and none beside them
  std::int64_t seeds = 0;    ///< new ones, the same for all of them
  /// What it takes.
  [[nodiscard]] std::int64_t episodes() const { return (scripts + 1) * seeds; }
};

/// How many are left for the comparison at the end.
inline constexpr std::int64_t kFinalists = 2;

/// @param scripts that there are to try
/// @param at_least of them that are tried, however few episodes there are
/// @param episodes of all rounds, about
std::vector<Round> plan_rounds(std::int64_t scripts, std::int64_t at_least, std::int64_t episodes);

/// The same with no more than `episodes` in all; none if these are too few to compare one script
/// with no control.
std::vector<Round> plan_rounds_within(std::int64_t scripts, std::int64_t episodes);

/// Episodes of all rounds.
std::int64_t count_episodes(const std::vector<Round>& rounds);

}  // namespace traffic::train
