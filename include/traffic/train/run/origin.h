/// The origin of a checkpoint: which run wrote it, and from which earlier checkpoint that run
/// started.
#pragma once

#include <cstdint>
#include <string>

#include "traffic/checkpoint/snapshot.h"

namespace traffic::train {

/// Identifies the run. Checkpoints store it under "run/...". It informs people who receive a
/// checkpoint from others, and appears in the log. No decision of the program depends on it.
struct Origin {
  std::string id;  ///< 16 hexadecimal digits, drawn when a run begins, kept when it is resumed
  /// Hash of the checkpoint in run.init_from; empty if the run started from none.
  std::string started_from;
};

/// Draws the origin of a new run.
/// @param init_from path of a checkpoint, or empty
/// @throws CheckpointError if it cannot be read
Origin make_origin(const std::string& init_from);
/// Reads the origin of the run that wrote the checkpoint; empty if the checkpoint has none.
Origin origin_of(const checkpoint::Snapshot& snapshot);

/// Stores the origin in the checkpoint, with the number of ranks and the versions of the program
/// and its libraries.
void put_origin(checkpoint::Snapshot& snapshot, const Origin& origin, int world_size);

/// Logs which run is resumed. Warns if the number of ranks, the program or its libraries differ
/// from those that saved the checkpoint.
void log_origin(const checkpoint::Snapshot& snapshot, int world_size);

}  // namespace traffic::train
