/// The baseline of a scenario: results of runs without control, with which rewards and gains are
/// compared. Baselines are measured once and kept on disk.
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
  /// Growth of the objective over time, for each conflict or for the whole road. It has C * T
  /// columns for C conflicts and the T terms of the objective; column c * T + t belongs to term t.
  rl::BaselineSums growth;
  double expected_demand = 0;  ///< mean number of vehicles that want to enter in an episode
  double expected_loss_s = 0;  ///< mean time that all vehicles of an episode lose together
  double mean_ocr_all = 0;     ///< mean of scene::EpisodeScore::ocr_all()
  /// Where the runs saved their traffic; it is not stored in the baseline's file.
  rollout::PieceStore store{};
  double mean_delay_s = 0;       ///< mean of scene::EpisodeScore::delay_s()
  double expected_driven_m = 0;  ///< mean distance that all vehicles of an episode drive together
  scene::Emissions expected_emissions{};  ///< mean CO2 and electric energy of all vehicles of an
                                          ///< episode together

  /// The scores of uncontrolled traffic; emissions per kilometre are those of all runs together.
  [[nodiscard]] scene::ComparedScores scores() const;
};

/// The hash that identifies a baseline. It covers the contents of the scenario's files, SUMO's
/// options, the settings of the measurement, and the versions of this program and of SUMO.
/// @throws DataError if the scenario or a file that it names cannot be read
std::string baseline_key(const config::Config& config);

/// The place on disk where uncontrolled runs save their traffic. Training episodes begin in this
/// traffic if they are pieces of a scenario, that is parts of length episodes.length_s.
rollout::PieceStore piece_store(const config::Config& config, const std::string& key);

/// The file of this configuration's baseline; empty if episodes.baseline_cache names no folder.
std::filesystem::path baseline_path(const config::Config& config);

checkpoint::Snapshot to_snapshot(const Baseline& baseline, const std::string& key);
/// @throws CheckpointError if the snapshot is not the baseline of this key
Baseline baseline_from(const checkpoint::Snapshot& snapshot, const std::string& key);

}  // namespace traffic::train
