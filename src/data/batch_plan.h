/// BatchPlan lists which rows of decoded blocks a batch consists of. A row is a vehicle in a frame.
/// The anchor of a sample is its last observed frame. BatchBuilder makes the plan first and then
/// fills all tensors of the batch with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "augment.h"
#include "frame_block.h"
#include "traffic/data/block_cache.h"
#include "traffic/data/dataset.h"
#include "traffic/data/samples.h"

namespace traffic::data {

/// One sample of the batch: its vehicles and frames.
struct Window {
  std::shared_ptr<const FrameBlock> block;
  std::int64_t anchor = 0;             ///< index of the anchor in the block
  std::vector<std::int32_t> vehicles;  ///< rows of the sample's vehicles at the anchor
  std::size_t first = 0;               ///< index of the sample's first vehicle in the batch
  std::optional<Augmenter> augmenter;  ///< empty if the inputs stay as recorded
};

struct BatchPlan {
  std::vector<Window> windows;
  std::size_t history = 0;         ///< number of history frames, anchor included
  std::size_t horizon = 0;         ///< number of frames after the anchor, which are predicted
  std::size_t num_vehicles = 0;    ///< S, vehicles of all samples together
  std::vector<std::int32_t> rows;  ///< [history + horizon, S] row of the block; -1 where the
                                   ///< vehicle is not present

  [[nodiscard]] std::int32_t row(std::size_t frame, std::size_t vehicle) const {
    return rows[frame * num_vehicles + vehicle];
  }
  /// Maps frame 0 .. history + horizon - 1 of a window to a frame of the block.
  [[nodiscard]] std::int64_t block_frame(const Window& window, std::size_t frame) const {
    return window.anchor + static_cast<std::int64_t>(frame) -
           static_cast<std::int64_t>(history - 1);
  }
};

/// The inputs of augmentation. If the pointers are null, samples are not augmented.
struct AugmentContext {
  const config::Augmentation* options = nullptr;
  const Augmenter::Targets* targets = nullptr;
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;
};

/// Makes the plan of a batch that consists of these samples.
/// @throws DataError if a block cannot be decoded
[[nodiscard]] BatchPlan plan_batch(const Dataset& dataset, std::span<const Draw> draws,
                                   const AugmentContext& augment, BlockCache& blocks);

}  // namespace traffic::data
