/// Copies of the data sets on a disk of each node.
#pragma once

#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// Collective. Copies what rank 0 finds as data.files to data.stage_dir of each node that lacks it:
/// from where the node sees the same file, else through the network from rank 0. A copy is named
/// by the file's name, content, size and time of change, so it is used again until the file
/// changes.
/// @return the options with the copies as data.files; unchanged if data.stage_dir is empty
/// @throws DataError, ResourceError on all ranks
config::Data with_staged_files(const config::Data& data, comm::Communicator& communicator);

}  // namespace traffic::train
