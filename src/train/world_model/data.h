/// The three splits of the recorded data, as this rank reads them.
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

/// Opens data.files, or their copies on the node (data.stage_dir), and checks that all ranks read
/// the same files. Collective.
/// @throws DataError, CommError if the ranks' files differ
WorldModelData open_world_model_data(const config::Config& config,
                                     comm::Communicator& communicator);

/// Names of the features of vehicles and neighbours that the data have; stored in a checkpoint as
/// "features".
std::string features_text(const data::FileInfo& info);
/// @throws CheckpointError if the checkpoint was made with other features than the data have; old
///   checkpoints that do not list features had all of them
void check_features(const checkpoint::Snapshot& snapshot, const data::FileInfo& info);

/// Shuffled, augmented training batches; start_epoch begins each epoch.
std::unique_ptr<data::TrafficLoader> make_train_loader(const WorldModelData& data,
                                                       const config::Config& config,
                                                       const comm::Communicator& communicator);

/// Batches in order, without augmentation; each sample occurs once over all ranks.
std::unique_ptr<data::TrafficLoader> make_evaluation_loader(
    std::shared_ptr<const data::Dataset> dataset, const config::Config& config,
    const comm::Communicator& communicator);

}  // namespace traffic::train
