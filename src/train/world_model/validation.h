/// Evaluation of the world model on a split: prediction errors next to those of simple predictions,
/// and the AUC of the conflict head.
#pragma once

#include "traffic/comm/communicator.h"
#include "traffic/data/traffic_batches.h"
#include "world_model/networks.h"
#include "world_model/prediction_metrics.h"

namespace traffic::train {

struct Validation {
  double loss = 0.0;  ///< loss of stage 2, mean over vehicles
  double vehicles = 0.0;
  HorizonErrors errors;
  RocHistogram conflicts = {};
};

/// Runs the model over one epoch of the loader. The result is equal on all ranks. Collective.
/// @param max_batches maximum number of batches per rank; 0: all
Validation validate(WorldModelNetworks& model, data::TrafficLoader& loader,
                    comm::Communicator& communicator, std::int64_t max_batches);

}  // namespace traffic::train
