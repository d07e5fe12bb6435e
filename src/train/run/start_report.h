/// Logs a summary of a training before its first step: number of parameters, size of a batch, and
/// memory.
#pragma once

#include <cstdint>
#include <string>

#include "monitor/resources.h"
#include "traffic/comm/flat_arena.h"
#include "traffic/train/run/training.h"

namespace traffic::train {

/// The numbers of parameters in words, such as "20.1 k parameters are trained: encoder 12.0 k,
/// world_model 8.1 k". Parameters are grouped by the first component of their names.
std::string parameters_text(const comm::ParameterArena& parameters);

/// Memory of a node in bytes.
struct MemoryEstimate {
  double now = 0.0;      ///< memory in use before the first step, summed over all processes
  double later = 0.0;    ///< estimated memory in use during training
  double allowed = 0.0;  ///< memory.target_memory_gb, or the memory of the node
};

/// The estimate in words: "main memory: 1.1 GiB now, an estimated 1.6 GiB during training, limit
/// 10.0 GiB".
std::string memory_text(const MemoryEstimate& estimate);

/// Logs the summary on rank 0, and warns if memory will probably not suffice.
/// @param saved_bytes size of a checkpoint, which is assembled in memory
void report_start(Run& run, const Training& training, const Reading& reading,
                  std::int64_t saved_bytes);

}  // namespace traffic::train
