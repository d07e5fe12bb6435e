/// Provides the baselines of a training: the results of uncontrolled runs, with which rewards are
/// compared. It reads them from a cache on disk or simulates the runs. Also defines the ranges of
/// seeds of all simulations of a training.
#pragma once

#include "rollouts/baseline.h"
#include "rollouts/traffic_collector.h"
#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"

namespace traffic::train {

// Seeds of the traffic. The ranges are disjoint and far from the seeds that users evaluate on.
/// Seeds of the rounds of a search for scripts.
inline constexpr std::uint64_t kFirstSearchSeed = 700'000'000;
/// Seeds of the final comparison of a search for scripts.
inline constexpr std::uint64_t kFirstFinalSeed = 750'000'000;
inline constexpr std::uint64_t kFirstBaselineSeed = 800'000'000;
/// Seeds of the final comparison of a training.
inline constexpr std::uint64_t kFirstComparisonSeed = 850'000'000;
inline constexpr std::uint64_t kFirstSelectionSeed = 900'000'000;
inline constexpr std::uint64_t kFirstTrainingSeed = 1'000'000'000;
inline constexpr std::uint64_t kNumTrainingSeeds = 1'000'000'000;

/// Range of factors on a scenario's demand. For each training episode a factor is drawn from it.
struct DemandRange {
  double low = 1.0;
  double high = 1.0;
  [[nodiscard]] bool varies() const { return low < high; }
};
inline DemandRange demand_range(const config::Episodes& episodes) {
  return {.low = episodes.demand.at(0), .high = episodes.demand.at(1)};
}

/// This rank's share of `total` requests for episodes. Request i belongs to rank i modulo the
/// number of ranks.
/// @param traffic_of returns the traffic of a request
std::vector<EpisodeRequest> requests_of_rank(
    std::int64_t total, const comm::Communicator& communicator,
    const std::function<rollout::EpisodeSeed(std::int64_t)>& traffic_of);

/// The baseline of every scenario of config::scenario_mix. It is read from the cache. If a rank
/// cannot read it there, all ranks measure it with uncontrolled runs. Collective.
std::vector<Baseline> get_baselines(const config::Config& config, TrafficCollector& collector,
                                    comm::Communicator& communicator);

}  // namespace traffic::train
