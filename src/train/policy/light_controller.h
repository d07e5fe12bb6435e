/// Makes a controller from a trained policy of traffic lights. It has the interface of the scripted
/// controllers, so that evaluations can run it.
#pragma once

#include <memory>

#include "policy/decides.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/scene/controller.h"

namespace traffic::train {

class DecisionWatch;

/// Loads the policy from the checkpoint.
/// @param watch sees every decision; null: nobody does
/// @throws CheckpointError if the checkpoint holds no policy of traffic lights, or one that reads
/// other features than this version provides
std::unique_ptr<scene::Controller> make_light_controller(const checkpoint::Snapshot& snapshot,
                                                         Decides decides,
                                                         DecisionWatch* watch = nullptr);

}  // namespace traffic::train
