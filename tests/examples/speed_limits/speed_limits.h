/// Variable speed limit signs as an agent: what its two halves, in the simulation and in the rank,
/// must agree on.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/config/schema.h"

namespace traffic::example {

inline constexpr std::string_view kSpeedLimits = "speed_limits";

/// The section [speed_limits].
struct SpeedLimits {
  std::vector<std::string> edges = {"up"};  ///< each has a sign at its start
  double period_s = 30;                     ///< time between two decisions
  double learning_rate = 0.1;
};

std::vector<config::OwnSection> speed_limits_sections();

/// The limits that a sign can show, as shares of its edge's own limit.
inline constexpr std::array<double, 4> kShares{1.0, 0.8, 0.6, 0.4};

/// Observation of a sign: density (veh/km/lane / 50), mean speed / limit and flow (veh/h/lane /
/// 2000) of its edge since the last decision, the same of the edges that follow, the share that it
/// shows, and 1.
inline constexpr std::size_t kFeatures = 8;
using SignView = std::array<float, kFeatures>;

/// The agent's section of an answer.
struct SignSection {
  std::span<const SignView> signs;  ///< one for each sign; empty between decisions
};

/// Its section of an order consists of such commands.
struct ShowLimit {
  std::int32_t sign = 0;   ///< index in SpeedLimits::edges
  std::int32_t share = 0;  ///< index in kShares
};

}  // namespace traffic::example
