/// What phase 2 needs before the first rollout: the baseline and the frozen weights.
#pragma once

#include "phase2_baseline.h"
#include "phase2_collector.h"
#include "phase2_perception.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"

namespace traffic::train {

// Seeds of the traffic, apart from each other and from those that people evaluate on.
inline constexpr std::uint64_t kFirstBaselineSeed = 800'000'000;
inline constexpr std::uint64_t kFirstSelectionSeed = 900'000'000;
inline constexpr std::uint64_t kFirstTrainingSeed = 1'000'000'000;
inline constexpr std::uint64_t kNumTrainingSeeds = 1'000'000'000;

/// Every size-th of `total` requests, those of this rank; what each runs is given by traffic_of.
std::vector<EpisodeRequest> requests_of_rank(
    std::int64_t total, const comm::Communicator& communicator,
    const std::function<Traffic(std::int64_t)>& traffic_of);

/// Of every scenario of config::scenario_mix, from the cache or, where it is not there yet, from
/// uncontrolled runs. Collective.
std::vector<Baseline> get_baselines(const config::Config& config, Collector& collector,
                                    comm::Communicator& communicator);

/// Copies weights that a checkpoint of phase 1 (or of phase 2) holds into the perception.
/// @throws CheckpointError if it was made with another [model] table
void load_perception(const checkpoint::Snapshot& snapshot, const config::Config& config,
                     Perception& perception);

/// @throws CheckpointError saying which setting differs
void check_phase2_resumable(const checkpoint::Snapshot& snapshot, const config::Config& config);
/// @throws CheckpointError if its controller is not one of this configuration
void check_policy_fits(const checkpoint::Snapshot& snapshot, const config::Config& config);
/// What must be equal for parameters to fit: hash of [model], [controller], [action] and env.
std::string policy_hash(const config::Config& config);

}  // namespace traffic::train
