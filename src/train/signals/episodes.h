/// Episodes whose traffic lights act, carried through the pool of simulations.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "signals/light_histories.h"
#include "traffic/core/time_split.h"
#include "traffic/rollout/pool/collector.h"
#include "traffic/rollout/traffic/signal_pool.h"

namespace traffic::train::signals {

/// Who sets the lights, and what is kept.
struct EpisodesWanted {
  std::vector<std::int64_t> orders;  ///< of this rank
  std::function<rollout::EpisodeSpec(std::int64_t order)> spec_of;
  SignalPolicy* policy = nullptr;  ///< null: who the specification names
  /// Choices are drawn from it and kept; nothing: the most probable ones, nothing is kept.
  std::optional<std::uint64_t> sampling_seed{};
  Crediting crediting{};
  bool may_give_up = false;  ///< when a stop is requested
};

/// @return in the order of `orders`; nothing if it was given up because a stop is requested
/// @throws WorkerError when a simulation cannot be kept running
std::optional<std::vector<EpisodeHistory>> run_episodes(rollout::SignalPool& pool,
                                                        const EpisodesWanted& wanted,
                                                        TimeSplit& time_split);

}  // namespace traffic::train::signals
