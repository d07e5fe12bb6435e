/// What every simulation begins an episode with.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "traffic/config/scenario_mix.h"
#include "traffic/core/error.h"
#include "traffic/rollout/traffic/period.h"

namespace traffic::rollout {

/// @throws WorkerError if the episode is of a scenario that there is not
inline const std::string& scenario_of(const EpisodeSpec& spec,
                                      const std::vector<config::ScenarioShare>& mix) {
  if (static_cast<std::size_t>(spec.traffic.scenario) >= mix.size()) {
    throw WorkerError("an episode of scenario {}, there are {}", spec.traffic.scenario, mix.size());
  }
  return mix[static_cast<std::size_t>(spec.traffic.scenario)].scenario;
}

/// SUMO's options for the episode's demand.
inline std::vector<std::string> demand_args(const EpisodeSpec& spec) {
  if (spec.demand_scale == 1.0) return {};
  return {"--scale", fmt::format("{}", spec.demand_scale)};
}

}  // namespace traffic::rollout
