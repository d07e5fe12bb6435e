/// Keeps a rank within the memory that its run may take, and knows what there is to show of it.
#pragma once

#include <vector>

#include "run/memory_watch.h"
#include "run/resources.h"
#include "traffic/core/clock.h"
#include "traffic/train/run/run.h"

namespace traffic::train {

class ResourceKeeper {
 public:
  /// Limits the memory that the rank may take of its GPU.
  explicit ResourceKeeper(Run& run);

  /// Of this rank.
  Reading read() { return reader_.read(); }
  /// Warns of too much memory and gives back what is idle.
  void look(const std::vector<Reading>& of_ranks);
  /// The same of this rank's GPU.
  void look_at_gpu();

  /// Of all ranks.
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
