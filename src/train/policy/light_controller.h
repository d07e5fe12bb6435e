/// Runs a trained policy of traffic lights behind the interface of the scripted controllers.
#pragma once

#include <memory>

#include "policy/decides.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/scene/controller.h"

namespace traffic::train {

/// @throws CheckpointError if the checkpoint holds no policy of traffic lights, or one that reads
/// other features than this version provides
std::unique_ptr<scene::Controller> make_light_controller(const checkpoint::Snapshot& snapshot,
                                                         Decides decides);

}  // namespace traffic::train
