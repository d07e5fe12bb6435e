/// Uncontrolled runs, which rewards are compared with; from the cache where they are known.
#pragma once

#include "rollouts/baseline.h"
#include "rollouts/traffic_collector.h"
#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"

namespace traffic::train {

// Seeds of the traffic, apart from each other and from those that people evaluate on.
inline constexpr std::uint64_t kFirstSearchSeed = 700'000'000;
inline constexpr std::uint64_t kFirstFinalSeed = 750'000'000;  ///< of what a search has found
inline constexpr std::uint64_t kFirstBaselineSeed = 800'000'000;
inline constexpr std::uint64_t kFirstHandoverSeed = 850'000'000;  ///< of what is handed over
inline constexpr std::uint64_t kFirstSelectionSeed = 900'000'000;
inline constexpr std::uint64_t kFirstTrainingSeed = 1'000'000'000;
inline constexpr std::uint64_t kNumTrainingSeeds = 1'000'000'000;

/// Every size-th of `total` requests, those of this rank; what each runs is given by traffic_of.
std::vector<EpisodeRequest> requests_of_rank(
    std::int64_t total, const comm::Communicator& communicator,
    const std::function<rollout::EpisodeSeed(std::int64_t)>& traffic_of);

/// Of every scenario of config::scenario_mix, from the cache or, where it is not there yet, from
/// uncontrolled runs. Collective.
std::vector<Baseline> get_baselines(const config::Config& config, TrafficCollector& collector,
                                    comm::Communicator& communicator);

}  // namespace traffic::train
