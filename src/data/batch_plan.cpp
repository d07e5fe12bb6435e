// Finds the rows of decoded blocks of which a batch consists (batch_plan.h).
#include "batch_plan.h"

#include <algorithm>

namespace traffic::data {
namespace {

/// Moves an anchor by `shift` frames, but not beyond the ends of its episode. If a frame is divided
/// into several crops (samples with different vehicles), chooses the crop with about the same
/// relative position as in the old frame. Does nothing if the new frame has no vehicles.
void shift_anchor(std::int64_t shift, const Dataset& dataset, const BlockRange& range,
                  SampleLocation& at) {
  const DatasetReader& file = dataset.file(range.file);
  const Episode& episode = file.episodes()[static_cast<std::size_t>(range.episode)];
  const auto& options = dataset.options();
  const std::int64_t first = episode.first_frame + options.history_frames - 1;
  const std::int64_t last = episode.first_frame + episode.num_frames - 1 - options.horizon_frames;
  const std::int64_t frame = std::clamp(at.anchor_frame + shift, first, last);
  const auto crops_of = [&](std::int64_t of_frame) {
    const auto f = static_cast<std::size_t>(of_frame);
    return num_crops(file.node_ptr()[f + 1] - file.node_ptr()[f], options.max_vehicles);
  };
  const std::int64_t crops = crops_of(frame);
  if (crops == 0) return;
  at.crop = at.crop * crops / crops_of(at.anchor_frame);
  at.anchor_frame = frame;
}

Window open_window(const Dataset& dataset, const Draw& draw, const AugmentContext& augment,
                   BlockCache& blocks) {
  SampleLocation at = dataset.locate(draw.sample);
  const BlockRange& range = dataset.range(at.block);
  Window window;
  if (augment.options != nullptr) {
    window.augmenter.emplace(*augment.options, *augment.targets, augment.seed, augment.epoch,
                             draw.sample);
    shift_anchor(window.augmenter->time_shift(), dataset, range, at);
  }
  window.block = blocks.get_as<FrameBlock>(at.block);
  window.anchor = at.anchor_frame - range.first_frame;
  const std::int32_t first_row = window.block->first_row(window.anchor);
  const std::int32_t end_row = window.block->first_row(window.anchor + 1);
  const std::span<const float> xy(window.block->frames.xy_m);
  window.vehicles = crop_nodes(xy.subspan(2 * static_cast<std::size_t>(first_row),
                                          2 * static_cast<std::size_t>(end_row - first_row)),
                               dataset.options().max_vehicles, at.crop);
  for (auto& vehicle : window.vehicles) vehicle += first_row;
  if (window.augmenter) {
    window.augmenter->begin(window.vehicles.size(), dataset.info().node_features.size());
  }
  return window;
}

/// Finds the rows of each vehicle of a window in all frames. It follows the links of FrameBlock
/// from the anchor backwards and forwards.
void trace(const Window& window, BatchPlan& plan) {
  const FrameBlock& block = *window.block;
  const std::size_t anchor = plan.history - 1;
  for (std::size_t i = 0; i < window.vehicles.size(); ++i) {
    const auto set = [&](std::size_t frame, std::int32_t row) {
      plan.rows[frame * plan.num_vehicles + window.first + i] = row;
    };
    set(anchor, window.vehicles[i]);
    std::int32_t at = window.vehicles[i];
    for (std::size_t frame = anchor; frame-- > 0;) {
      const std::int32_t before = block.prev[static_cast<std::size_t>(at)];
      const bool here = before >= block.first_row(plan.block_frame(window, frame));
      set(frame, here ? before : -1);
      if (here) at = before;
    }
    at = window.vehicles[i];
    for (std::size_t frame = plan.history; frame < plan.history + plan.horizon; ++frame) {
      const std::int32_t after = block.next[static_cast<std::size_t>(at)];
      const bool here = after >= 0 && after < block.first_row(plan.block_frame(window, frame) + 1);
      set(frame, here ? after : -1);
      if (here) at = after;
    }
  }
}

}  // namespace

BatchPlan plan_batch(const Dataset& dataset, std::span<const Draw> draws,
                     const AugmentContext& augment, BlockCache& blocks) {
  BatchPlan plan;
  plan.history = static_cast<std::size_t>(dataset.options().history_frames);
  plan.horizon = static_cast<std::size_t>(dataset.options().horizon_frames);
  plan.windows.reserve(draws.size());
  for (const Draw& draw : draws) {
    Window window = open_window(dataset, draw, augment, blocks);
    window.first = plan.num_vehicles;
    plan.num_vehicles += window.vehicles.size();
    plan.windows.push_back(std::move(window));
  }
  plan.rows.resize((plan.history + plan.horizon) * plan.num_vehicles);
  for (const Window& window : plan.windows) trace(window, plan);
  return plan;
}

}  // namespace traffic::data
