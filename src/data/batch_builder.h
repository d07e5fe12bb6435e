/// BatchBuilder builds batches (batch.h) of recorded traffic from decoded blocks (groups of samples
/// that are read together). traffic_batches() returns it as a BatchSource for the loader.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "batch_plan.h"
#include "traffic/data/traffic_batches.h"

namespace traffic::data {

class BatchBuilder final : public BatchSource<Batch> {
 public:
  BatchBuilder(std::shared_ptr<const Dataset> dataset, BatchOptions options);

  [[nodiscard]] const SampleIndex& index() const override { return *dataset_; }
  [[nodiscard]] std::shared_ptr<const Block> decode(std::int32_t block) const override;
  [[nodiscard]] Batch build(std::span<const Draw> draws, std::int64_t epoch,
                            BlockCache& blocks) const override;

 private:
  /// Columns of the node features from which targets and labels are computed.
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
  /// Indices of the node features and of the edge features that at least one file lacks. These
  /// features are zero in every batch.
  std::vector<std::size_t> missing_nodes_;
  std::vector<std::size_t> missing_edges_;
  /// Whether all files have the features of leaders (vehicles ahead), from which the conflict label
  /// is computed.
  bool has_leaders_ = true;
  Augmenter::Targets targets_;
};

}  // namespace traffic::data
