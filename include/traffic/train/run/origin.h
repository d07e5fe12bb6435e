/// The origin of a checkpoint: the run that wrote it and the checkpoint that this run started from.
#pragma once

#include <cstdint>
#include <string>

#include "traffic/checkpoint/snapshot.h"

namespace traffic::train {

/// Stored in a checkpoint under "run/...". It informs people who receive files from others, and the
/// log; no decision depends on it.
struct Origin {
  std::string id;  ///< 16 hexadecimal digits, drawn when a run begins, kept when it is resumed
  std::string started_from;  ///< hash of the checkpoint in run.init_from; empty: none
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

/// Logs which run is resumed, and what differs from when the checkpoint was saved.
void log_origin(const checkpoint::Snapshot& snapshot, int world_size);

}  // namespace traffic::train
