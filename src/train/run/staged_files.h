/// Copies of the data sets on a local disk of each node.
#pragma once

#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// Collective. Copies the files of data.files to data.stage_dir on each node that lacks a copy:
/// from the same file if the node sees it, otherwise over the network from rank 0. The name of a
/// copy contains the file's name and a hash of its content, size and time of change, so it is
/// reused until the file changes.
/// @return the options with the copies as data.files; unchanged if data.stage_dir is empty
/// @throws DataError, ResourceError on all ranks
config::Data with_staged_files(const config::Data& data, comm::Communicator& communicator);

}  // namespace traffic::train
