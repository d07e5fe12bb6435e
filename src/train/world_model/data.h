/// The three splits of the recorded data as this rank sees them.
#pragma once

#include <memory>
#include <string>

#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"
#include "traffic/data/traffic_batches.h"

namespace traffic::train {

struct WorldModelData {
  std::shared_ptr<const data::Dataset> train;
  std::shared_ptr<const data::Dataset> validation;
  std::shared_ptr<const data::Dataset> test;
};

/// Opens data.files, or their copies on the node (data.stage_dir), and checks that all ranks see
/// the same. Collective.
/// @throws DataError, CommError if the ranks' files differ
WorldModelData open_world_model_data(const config::Config& config,
                                     comm::Communicator& communicator);

/// Names of the vehicles' and neighbours' features that the data have, for "features" in a
/// checkpoint.
std::string features_text(const data::FileInfo& info);
/// @throws CheckpointError if it was made with other features than the data have; older ones, which
/// do not say, had all
void check_features(const checkpoint::Snapshot& snapshot, const data::FileInfo& info);

/// Shuffled and augmented, without end: start_epoch begins each epoch.
std::unique_ptr<data::TrafficLoader> make_train_loader(const WorldModelData& data,
                                                       const config::Config& config,
                                                       const comm::Communicator& communicator);

/// In order, unaugmented, every sample once over all ranks.
std::unique_ptr<data::TrafficLoader> make_evaluation_loader(
    std::shared_ptr<const data::Dataset> dataset, const config::Config& config,
    const comm::Communicator& communicator);

}  // namespace traffic::train
