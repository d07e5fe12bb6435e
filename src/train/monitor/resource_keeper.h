/// Keeps a rank within its memory limits during a run, and provides metrics of memory and GPUs. The
/// training loop (run/loop.cpp) owns one object of this class.
#pragma once

#include <vector>

#include "monitor/memory_watch.h"
#include "monitor/resources.h"
#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"
#include "traffic/core/clock.h"

namespace traffic::train {

class ResourceKeeper {
 public:
  /// Limits the GPU memory of the rank.
  ResourceKeeper(const comm::Communicator& communicator, const config::Config& config);

  /// Reads the resources of this rank.
  Reading read() { return reader_.read(); }
  /// If a node uses too much memory, warns and releases idle memory.
  /// @param of_ranks the readings of all ranks
  void look(const std::vector<Reading>& of_ranks);
  /// If the GPU of this rank uses too much memory, warns and releases cached memory.
  void look_at_gpu();

  /// Totals over all ranks, as of the last look().
  [[nodiscard]] const ResourceWatch& all() const { return all_; }

 private:
  bool reports_;
  at::Device device_;
  MemoryWatch gpu_;
  ResourceReader reader_;
  ResourceWatch all_;
  Stopwatch since_release_;
};

}  // namespace traffic::train
