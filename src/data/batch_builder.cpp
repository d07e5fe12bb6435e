// BatchBuilder: fills the tensors of a batch from decoded blocks (batch_builder.h).
// batch_targets.cpp fills the targets of the losses.
#include "batch_builder.h"

#include <algorithm>

#include "traffic/scene/normaliser.h"

namespace traffic::data {
namespace {

/// The edges of a batch that is being built.
struct EdgeBuffer {
  std::vector<std::int32_t> src;
  std::vector<float> features;          ///< in physical units
  std::vector<std::int32_t> batch_row;  ///< [nodes of a frame] row of the batch's graph, or -1
};

/// Finds, for every vehicle in frame t of the window (a sample of the batch), its row in the
/// batch's graph; -1 for a vehicle that does not belong to the sample.
void find_batch_rows(const BatchPlan& plan, const Window& window, std::size_t t,
                     std::vector<std::int32_t>& batch_row) {
  const std::int64_t frame = plan.block_frame(window, t);
  const std::int32_t first_row = window.block->first_row(frame);
  batch_row.assign(static_cast<std::size_t>(window.block->first_row(frame + 1) - first_row), -1);
  for (std::size_t s = window.first; s < window.first + window.vehicles.size(); ++s) {
    const std::int32_t row = plan.row(t, s);
    if (row < 0) continue;
    batch_row[static_cast<std::size_t>(row - first_row)] =
        static_cast<std::int32_t>(t * plan.num_vehicles + s);
  }
}

/// Appends the edges that lead to a row of the block and start at a vehicle of the same sample.
void append_in_edges(Window& window, std::int32_t row, EdgeBuffer& out) {
  const PackedFrames& frames = window.block->frames;
  const auto r = static_cast<std::size_t>(row);
  for (auto e = static_cast<std::size_t>(frames.edge_ptr[r]);
       e < static_cast<std::size_t>(frames.edge_ptr[r + 1]); ++e) {
    const std::int32_t tail = out.batch_row[static_cast<std::size_t>(frames.edge_src[e])];
    if (tail < 0 || (window.augmenter && window.augmenter->drop_edge())) continue;
    out.src.push_back(tail);
    const float* features = frames.edge_features.data() + e * kNumEdgeFeatures;
    out.features.insert(out.features.end(), features, features + kNumEdgeFeatures);
  }
}

std::vector<std::size_t> missing_columns(const FeatureTable& table) {
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < table.size(); ++c) {
    if (!table[c].present) columns.push_back(c);
  }
  return columns;
}

void clear_columns(float* row, std::span<const std::size_t> columns) {
  for (const std::size_t c : columns) row[c] = 0.0F;
}

}  // namespace

BatchBuilder::BatchBuilder(std::shared_ptr<const Dataset> dataset, BatchOptions options)
    : dataset_(std::move(dataset)), options_(std::move(options)) {
  const FeatureTable& table = dataset_->info().node_features;
  const auto column = [&](std::string_view name) {
    return static_cast<std::size_t>(feature_index(table, name));
  };
  num_features_ = table.size();
  columns_ = {.speed = column(kSpeedFeature),
              .acceleration = column(kAccelerationFeature),
              .lane = column(kLaneFeature),
              .leader_gap = column(kLeaderGapFeature),
              .leader_relative_speed = column(kLeaderRelativeSpeedFeature)};
  missing_nodes_ = missing_columns(table);
  missing_edges_ = missing_columns(dataset_->info().edge_features);
  has_leaders_ =
      table[columns_.leader_gap].present && table[columns_.leader_relative_speed].present;
  targets_.position = column(kPositionFeature);
  targets_.speed = columns_.speed;
  const scene::Normaliser& normaliser = scene::node_normaliser();
  targets_.position_scale = normaliser.scale(targets_.position);
  targets_.speed_offset = normaliser.offset(targets_.speed);
  targets_.speed_scale = normaliser.scale(targets_.speed);
}

at::Tensor BatchBuilder::tensor(at::IntArrayRef shape, at::ScalarType type) const {
  return at::empty(shape, at::TensorOptions().dtype(type).pinned_memory(options_.pin_memory));
}

std::shared_ptr<const Block> BatchBuilder::decode(std::int32_t block) const {
  const BlockRange& range = dataset_->range(block);
  return std::make_shared<const FrameBlock>(read_block(dataset_->file(range.file), range));
}

Batch BatchBuilder::build(std::span<const Draw> draws, std::int64_t epoch,
                          BlockCache& blocks) const {
  AugmentContext augment;
  if (options_.augmentation.enabled) {
    augment = {&options_.augmentation, &targets_, options_.seed, epoch};
  }
  BatchPlan plan = plan_batch(*dataset_, draws, augment, blocks);
  Batch batch;
  fill_samples(plan, draws, batch);
  fill_nodes(plan, batch);
  fill_edges(plan, batch);
  fill_targets(plan, batch);
  return batch;
}

void BatchBuilder::fill_samples(const BatchPlan& plan, std::span<const Draw> draws,
                                Batch& batch) const {
  const auto count = static_cast<std::int64_t>(draws.size());
  batch.sample_ptr = tensor({count + 1}, at::kInt);
  batch.sample_id = tensor({count}, at::kLong);
  batch.sample_weight = tensor({count}, at::kFloat);
  auto* ptr = batch.sample_ptr.mutable_data_ptr<std::int32_t>();
  auto* id = batch.sample_id.mutable_data_ptr<std::int64_t>();
  auto* weight = batch.sample_weight.mutable_data_ptr<float>();
  for (std::size_t i = 0; i < draws.size(); ++i) {
    ptr[i] = static_cast<std::int32_t>(plan.windows[i].first);
    id[i] = draws[i].sample;
    weight[i] = draws[i].weight;
  }
  ptr[draws.size()] = static_cast<std::int32_t>(plan.num_vehicles);
}

void BatchBuilder::fill_nodes(BatchPlan& plan, Batch& batch) const {
  const auto frames = static_cast<std::int64_t>(plan.history);
  const auto vehicles = static_cast<std::int64_t>(plan.num_vehicles);
  batch.node_features =
      tensor({frames, vehicles, static_cast<std::int64_t>(num_features_)}, at::kFloat);
  batch.present = tensor({frames, vehicles}, at::kBool);
  auto* out = batch.node_features.mutable_data_ptr<float>();
  auto* present = batch.present.mutable_data_ptr<bool>();
  const scene::Normaliser& normaliser = scene::node_normaliser();
  for (std::size_t t = 0; t < plan.history; ++t) {
    for (Window& window : plan.windows) {
      const float* in = window.block->frames.node_features.data();
      for (std::size_t i = 0; i < window.vehicles.size(); ++i, out += num_features_) {
        const std::int32_t row = plan.row(t, window.first + i);
        *present++ = row >= 0;
        if (row < 0) {
          std::fill_n(out, num_features_, 0.0F);
          continue;
        }
        const float* from = in + static_cast<std::size_t>(row) * num_features_;
        normaliser.write({from, num_features_}, out);
        if (window.augmenter) window.augmenter->change_features(i, {out, num_features_});
        clear_columns(out, missing_nodes_);
      }
    }
  }
}

void BatchBuilder::fill_edges(BatchPlan& plan, Batch& batch) const {
  // The number of edges is unknown until all edges are found. They are collected in a buffer, which
  // each reader thread reuses, and then copied into tensors.
  thread_local EdgeBuffer buffer;
  buffer.src.clear();
  buffer.features.clear();
  const auto rows = static_cast<std::int64_t>(plan.history * plan.num_vehicles);
  batch.edge_ptr = tensor({rows + 1}, at::kInt);
  auto* ptr = batch.edge_ptr.mutable_data_ptr<std::int32_t>();
  *ptr++ = 0;
  for (std::size_t t = 0; t < plan.history; ++t) {
    for (Window& window : plan.windows) {
      find_batch_rows(plan, window, t, buffer.batch_row);
      for (std::size_t i = 0; i < window.vehicles.size(); ++i) {
        const std::int32_t row = plan.row(t, window.first + i);
        if (row >= 0) append_in_edges(window, row, buffer);
        *ptr++ = static_cast<std::int32_t>(buffer.src.size());
      }
    }
  }
  const auto count = static_cast<std::int64_t>(buffer.src.size());
  batch.edge_src = tensor({count}, at::kInt);
  batch.edge_features = tensor({count, kNumEdgeFeatures}, at::kFloat);
  std::copy(buffer.src.begin(), buffer.src.end(), batch.edge_src.mutable_data_ptr<std::int32_t>());
  auto* features = batch.edge_features.mutable_data_ptr<float>();
  scene::edge_normaliser().write(buffer.features, features);
  if (missing_edges_.empty()) return;
  for (std::int64_t e = 0; e < count; ++e) {
    clear_columns(features + e * kNumEdgeFeatures, missing_edges_);
  }
}

BatchOptions batch_options(const config::Data& data, std::uint64_t seed, bool pin_memory) {
  return {.conflict_ttc_s = data.conflict_ttc_s,
          .augmentation = data.augmentation,
          .seed = seed,
          .pin_memory = pin_memory};
}

std::shared_ptr<const BatchSource<Batch>> traffic_batches(std::shared_ptr<const Dataset> dataset,
                                                          const BatchOptions& options) {
  return std::make_shared<const BatchBuilder>(std::move(dataset), options);
}

}  // namespace traffic::data
