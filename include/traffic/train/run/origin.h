/// Where a checkpoint comes from.
#pragma once

#include <cstdint>
#include <string>

#include "traffic/checkpoint/snapshot.h"

namespace traffic::train {

/// "run/..." of a checkpoint. Nothing is decided by it: it is for people, who get files from
/// others, and for the log.
struct Origin {
  std::string id;  ///< 16 hexadecimal digits, drawn when a run begins, kept when it goes on
  std::string started_from;  ///< hash of the checkpoint that run.init_from named; empty: none
};

/// Of a new run.
/// @param init_from a checkpoint, or empty
/// @throws CheckpointError if it cannot be read
Origin make_origin(const std::string& init_from);
/// Of the run that the checkpoint is of; empty for one that was made before there were any.
Origin origin_of(const checkpoint::Snapshot& snapshot);

/// Puts it down, with the number of ranks, the program and its libraries.
void put_origin(checkpoint::Snapshot& snapshot, const Origin& origin, int world_size);

/// Says which run is gone on with, and what is not as it was when it was saved.
void log_origin(const checkpoint::Snapshot& snapshot, int world_size);

}  // namespace traffic::train
