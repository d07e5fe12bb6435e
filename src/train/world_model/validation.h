/// Evaluates the world model on a split of the data. It measures the errors of the model and of
/// simple predictions, and the area under the ROC curve (AUC) of the predicted conflicts.
#pragma once

#include "traffic/comm/communicator.h"
#include "traffic/data/traffic_batches.h"
#include "world_model/networks.h"
#include "world_model/prediction_metrics.h"

namespace traffic::train {

/// The result of an evaluation.
struct Validation {
  double loss = 0.0;  ///< loss with all terms (Stage::kFuture), mean over vehicles
  double vehicles = 0.0;
  HorizonErrors errors;
  RocHistogram conflicts = {};
};

/// Runs the model over one epoch of the loader. The result is equal on all ranks. Collective.
/// @param max_batches maximum number of batches per rank; 0 means all
Validation validate(WorldModelNetworks& model, data::TrafficLoader& loader,
                    comm::Communicator& communicator, std::int64_t max_batches);

}  // namespace traffic::train
