/// What a training is, before its first step: parameters, batch, memory.
#pragma once

#include <cstdint>
#include <string>

#include "run/resources.h"
#include "traffic/comm/flat_arena.h"
#include "traffic/train/run/training.h"

namespace traffic::train {

/// "20.1 k parameters: encoder 12.0 k, world_model 8.1 k", by the first part of their names.
std::string parameters_text(const comm::ParameterArena& parameters);

/// Of a node, in bytes.
struct MemoryEstimate {
  double now = 0.0;      ///< before the first step, of all processes
  double later = 0.0;    ///< while it trains, about
  double allowed = 0.0;  ///< memory.target_memory_gb, or what the node has
};

/// "main memory: 1.1 GiB now, up to about 1.6 GiB of 10.0 GiB while it trains"
std::string memory_text(const MemoryEstimate& estimate);

/// Logs it all on the reporter; warns if it is likely to be too much.
/// @param saved_bytes of a checkpoint, which is built in memory
void report_start(Run& run, const Training& training, const Reading& reading,
                  std::int64_t saved_bytes);

}  // namespace traffic::train
