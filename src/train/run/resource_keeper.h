/// Keeps a rank within its memory limits and provides the metrics of memory and GPUs.
#pragma once

#include <vector>

#include "run/memory_watch.h"
#include "run/resources.h"
#include "traffic/core/clock.h"
#include "traffic/train/run/run.h"

namespace traffic::train {

class ResourceKeeper {
 public:
  /// Limits the GPU memory of the rank.
  explicit ResourceKeeper(Run& run);

  /// Reading of this rank.
  Reading read() { return reader_.read(); }
  /// Warns if a node uses too much memory and releases idle memory.
  void look(const std::vector<Reading>& of_ranks);
  /// The same check for this rank's GPU.
  void look_at_gpu();

  /// Totals over all ranks.
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
