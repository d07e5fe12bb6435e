/// From samples to a batch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "batch_plan.h"
#include "traffic/config/config.h"
#include "traffic/data/batch.h"
#include "traffic/data/dataset.h"
#include "traffic/data/sampler.h"

namespace traffic::data {

struct BatchOptions {
  double conflict_ttc_s = 2.0;
  config::Augmentation augmentation{};
  std::uint64_t seed = 0;  ///< of augmentation
  bool pin_memory = false;
};

/// Thread-safe: build() may run in several threads at once; the result depends on its arguments
/// only.
class BatchBuilder {
 public:
  BatchBuilder(std::shared_ptr<const Dataset> dataset, BatchOptions options);

  /// @throws DataError if a file turns out to be damaged
  [[nodiscard]] Batch build(std::span<const Draw> draws, std::int64_t epoch,
                            BlockCache& blocks) const;

 private:
  /// Node features by what they mean.
  struct Columns {
    std::size_t speed, acceleration, lane, leader_gap, leader_relative_speed;
  };

  [[nodiscard]] at::Tensor tensor(at::IntArrayRef shape, at::ScalarType type) const;
  void fill_nodes(BatchPlan& plan, Batch& batch) const;
  void fill_edges(BatchPlan& plan, Batch& batch) const;
  void fill_samples(const BatchPlan& plan, std::span<const Draw> draws, Batch& batch) const;
  void fill_targets(const BatchPlan& plan, Batch& batch) const;
  [[nodiscard]] bool in_conflict(const float* features) const;

  std::shared_ptr<const Dataset> dataset_;
  BatchOptions options_;
  std::size_t num_features_;
  Columns columns_;
  Augmenter::Targets targets_;
};

}  // namespace traffic::data
