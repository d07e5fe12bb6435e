/// What the traffic does by itself: measured once per scenario and demand, kept on disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "traffic/checkpoint/snapshot.h"
#include "traffic/config/config.h"
#include "traffic/rl/baseline_curve.h"
#include "traffic/rollout/traffic/period.h"

namespace traffic::train {

struct Baseline {
  rl::BaselineSums growth;     ///< of the objective, by conflict or in all
  double expected_demand = 0;  ///< vehicles that want to enter in an episode, mean
  double expected_loss_s = 0;  ///< time that they lose in all, mean
  double mean_ocr_all = 0;
  rollout::PieceStore store{};  ///< where these runs have left their traffic; not in the file
  double mean_delay_s = 0;
};

/// Tells baselines apart: what the scenario's files hold, what SUMO is told, how it was measured.
/// @throws DataError if the scenario or a file that it names cannot be read
std::string baseline_key(const config::Config& config);

/// Of the pieces that this configuration's training episodes are.
rollout::PieceStore piece_store(const config::Config& config, const std::string& key);

/// The file of a key; empty if baselines are not kept.
std::filesystem::path baseline_path(const config::Config& config);

checkpoint::Snapshot to_snapshot(const Baseline& baseline, const std::string& key);
/// @throws CheckpointError if it is no baseline of this key
Baseline baseline_from(const checkpoint::Snapshot& snapshot, const std::string& key);

}  // namespace traffic::train
