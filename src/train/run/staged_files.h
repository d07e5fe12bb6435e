/// Copies the data sets to a local disk of each node, so that training reads them fast.
#pragma once

#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// Collective. Copies the files of data.files to data.stage_dir on each node that lacks a copy. A
/// node that sees a file copies it itself; otherwise rank 0 sends the content over the network. The
/// name of a copy contains the file's name and a hash of its content, size and time of change. A
/// copy is therefore reused until the file changes.
/// @return the options with the copies as data.files; unchanged if data.stage_dir is empty
/// @throws DataError, ResourceError on all ranks
config::Data with_staged_files(const config::Data& data, comm::Communicator& communicator);

}  // namespace traffic::train
