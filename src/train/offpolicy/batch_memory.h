/// Holds the tensors of the batch that a rank drew last from its replay.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "offpolicy/learner.h"
#include "traffic/replay/replay.h"

namespace traffic::train::offpolicy {

/// Memory for one batch, which every draw overwrites.
class BatchMemory {
 public:
  BatchMemory(const replay::SegmentShape& shape, std::int64_t size);

  /// Number of transitions.
  [[nodiscard]] std::int64_t size() const { return batch_.obs.size(0); }
  /// The memory of the batch, for Replay::draw().
  [[nodiscard]] replay::Transitions rows();
  [[nodiscard]] const Batch& batch() const { return batch_; }

 private:
  Batch batch_;
};

}  // namespace traffic::train::offpolicy
