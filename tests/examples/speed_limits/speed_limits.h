/// The agent `speed_limits`, variable speed limit signs: settings and messages that its part in the
/// simulation and its part in the training share.
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

/// The section [speed_limits] of the configuration.
struct SpeedLimits {
  std::vector<std::string> edges = {"up"};  ///< each has a sign at its start
  double period_s = 30;                     ///< time between two decisions
  double learning_rate = 0.1;
};

std::vector<config::OwnSection> speed_limits_sections();

/// The limits that a sign can show, as fractions ("shares") of the edge's own limit.
inline constexpr std::array<double, 4> kShares{1.0, 0.8, 0.6, 0.4};

/// Observation of a sign, eight numbers. The first three describe its edge since the last decision:
/// density in 50 veh/km/lane, mean speed divided by the edge's limit, and flow in 2000 veh/h/lane.
/// The next three are the same for the edges that follow. The last two are the share that the sign
/// shows, and 1.
inline constexpr std::size_t kFeatures = 8;
using SignView = std::array<float, kFeatures>;

/// The agent's section of an answer of the simulation.
struct SignSection {
  std::span<const SignView> signs;  ///< one for each sign; empty between decisions
};

/// A command to one sign. The agent's section of an order is a list of these commands.
struct ShowLimit {
  std::int32_t sign = 0;   ///< index in SpeedLimits::edges
  std::int32_t share = 0;  ///< index in kShares
};

}  // namespace traffic::example
