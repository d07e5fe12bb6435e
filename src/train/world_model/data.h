/// The three splits of the recorded data as this rank sees them.
#pragma once

#include <memory>

#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"
#include "traffic/data/traffic_batches.h"

namespace traffic::train {

struct WorldModelData {
  std::shared_ptr<const data::Dataset> train;
  std::shared_ptr<const data::Dataset> validation;
  std::shared_ptr<const data::Dataset> test;
};

/// Opens data.files and checks that all ranks see the same. Collective.
/// @throws DataError, CommError if the ranks' files differ
WorldModelData open_world_model_data(const config::Config& config,
                                     comm::Communicator& communicator);

/// Shuffled and augmented, without end: start_epoch begins each epoch.
std::unique_ptr<data::TrafficLoader> make_train_loader(const WorldModelData& data,
                                                       const config::Config& config,
                                                       const comm::Communicator& communicator);

/// In order, unaugmented, every sample once over all ranks.
std::unique_ptr<data::TrafficLoader> make_evaluation_loader(
    std::shared_ptr<const data::Dataset> dataset, const config::Config& config,
    const comm::Communicator& communicator);

}  // namespace traffic::train
