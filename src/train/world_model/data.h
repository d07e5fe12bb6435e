/// Opens the recorded traffic for the training of the world model, and makes loaders of its
/// batches.
#pragma once

#include <memory>
#include <string>

#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"
#include "traffic/data/traffic_batches.h"

namespace traffic::train {

/// The three splits of the recorded data: for training, for choosing the best weights, and for the
/// final table.
struct WorldModelData {
  std::shared_ptr<const data::Dataset> train;
  std::shared_ptr<const data::Dataset> validation;
  std::shared_ptr<const data::Dataset> test;
};

/// Opens data.files, or their copies on the node (data.stage_dir), and checks that all ranks read
/// the same files. Collective.
/// @throws DataError if the files cannot be used, CommError if the ranks' files differ
WorldModelData open_world_model_data(const config::Config& config,
                                     comm::Communicator& communicator);

/// Lists the features of vehicles and of pairs of neighbours that the data contain. A checkpoint
/// stores this text as "features".
std::string features_text(const data::FileInfo& info);
/// Checks that the data contain the features with which the checkpoint was trained. An old
/// checkpoint without a list of features was trained with all features.
/// @throws CheckpointError if the features differ
void check_features(const checkpoint::Snapshot& snapshot, const data::FileInfo& info);

/// Makes the loader of the training batches, which are shuffled and augmented. Call its
/// start_epoch() at the begin of each epoch.
std::unique_ptr<data::TrafficLoader> make_train_loader(const WorldModelData& data,
                                                       const config::Config& config,
                                                       const comm::Communicator& communicator);

/// Makes a loader of the batches of a split in order, without augmentation. Together, the loaders
/// of all ranks return each sample once.
std::unique_ptr<data::TrafficLoader> make_evaluation_loader(
    std::shared_ptr<const data::Dataset> dataset, const config::Config& config,
    const comm::Communicator& communicator);

}  // namespace traffic::train
