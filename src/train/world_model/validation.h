/// How good the world model is on a split: errors beside those of simple predictions, and the
/// conflict head's AUC.
#pragma once

#include "traffic/comm/communicator.h"
#include "traffic/data/traffic_batches.h"
#include "world_model/networks.h"
#include "world_model/prediction_metrics.h"

namespace traffic::train {

struct Validation {
  double loss = 0.0;  ///< of stage 2, a mean over vehicles
  double vehicles = 0.0;
  HorizonErrors errors;
  RocHistogram conflicts = {};
};

/// Runs the model over one epoch of the loader; equal on all ranks. Collective.
/// @param max_batches of each rank; 0: all
Validation validate(WorldModelNetworks& model, data::TrafficLoader& loader,
                    comm::Communicator& communicator, std::int64_t max_batches);

}  // namespace traffic::train
