/// Uncontrolled runs, which rewards are compared with; from the cache where they are known.
#pragma once

#include "rollouts/baseline.h"
#include "rollouts/traffic_collector.h"
#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"

namespace traffic::train {

// Seeds of the traffic. The ranges are disjoint, and far from the seeds that people evaluate on.
inline constexpr std::uint64_t kFirstSearchSeed = 700'000'000;
inline constexpr std::uint64_t kFirstFinalSeed =
    750'000'000;  ///< of the comparison that ends a search
inline constexpr std::uint64_t kFirstBaselineSeed = 800'000'000;
inline constexpr std::uint64_t kFirstComparisonSeed = 850'000'000;  ///< of the final comparison
inline constexpr std::uint64_t kFirstSelectionSeed = 900'000'000;
inline constexpr std::uint64_t kFirstTrainingSeed = 1'000'000'000;
inline constexpr std::uint64_t kNumTrainingSeeds = 1'000'000'000;

/// Factors on a scenario's demand, between which each training episode draws its own.
struct DemandRange {
  double low = 1.0;
  double high = 1.0;
  [[nodiscard]] bool varies() const { return low < high; }
};
inline DemandRange demand_range(const config::Episodes& episodes) {
  return {.low = episodes.demand.at(0), .high = episodes.demand.at(1)};
}

/// Every size-th of `total` requests, those of this rank; what each runs is given by traffic_of.
std::vector<EpisodeRequest> requests_of_rank(
    std::int64_t total, const comm::Communicator& communicator,
    const std::function<rollout::EpisodeSeed(std::int64_t)>& traffic_of);

/// Of every scenario of config::scenario_mix, from the cache or, where it is not there yet, from
/// uncontrolled runs. Collective.
std::vector<Baseline> get_baselines(const config::Config& config, TrafficCollector& collector,
                                    comm::Communicator& communicator);

}  // namespace traffic::train
