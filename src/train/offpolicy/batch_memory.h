/// What is drawn from a replay, as tensors.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "offpolicy/learner.h"
#include "traffic/replay/replay.h"

namespace traffic::train::offpolicy {

/// Room for a batch, drawn into again and again.
class BatchMemory {
 public:
  BatchMemory(const replay::SegmentShape& shape, std::int64_t size);

  [[nodiscard]] std::int64_t size() const { return batch_.obs.size(0); }
  [[nodiscard]] replay::Transitions rows();
  [[nodiscard]] const Batch& batch() const { return batch_; }

 private:
  Batch batch_;
};

}  // namespace traffic::train::offpolicy
