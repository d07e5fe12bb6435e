/// Lets a trained driving policy drive vehicles, as a driving::Driver.
#pragma once

#include <memory>
#include <string>

#include "traffic/driving/driver.h"

namespace traffic::train {

/// Loads the policy of a checkpoint of the training `driving`. It plans for all views in batches on
/// the CPU. The maps of the views must live as long as the driver.
/// @throws CheckpointError if the file is not a checkpoint of this training
std::unique_ptr<driving::Driver> load_driver(const std::string& checkpoint_path);

}  // namespace traffic::train
