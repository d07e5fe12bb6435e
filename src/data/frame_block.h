/// FrameBlock: a decoded block of consecutive recorded frames. It has n rows, one for each vehicle
/// in each frame. Links lead from a row to the same vehicle's rows in the frames before and after.
#pragma once

#include <cstdint>
#include <vector>

#include "traffic/data/batch_source.h"
#include "traffic/data/dataset.h"
#include "traffic/data/reader.h"

namespace traffic::data {

struct FrameBlock final : Block {
  PackedFrames frames;
  std::vector<std::int32_t> next;  ///< [n] the vehicle's row in the next frame; -1 if none
  std::vector<std::int32_t> prev;  ///< [n] the vehicle's row in the previous frame; -1 if none

  /// First row of a frame of the block.
  [[nodiscard]] std::int32_t first_row(std::int64_t frame) const {
    return frames.node_ptr[static_cast<std::size_t>(frame)];
  }
};

/// Reads and decodes the frames of `range`.
/// @throws DataError if the file is damaged, or if a frame has a vehicle twice
[[nodiscard]] FrameBlock read_block(const DatasetReader& reader, const BlockRange& range);

}  // namespace traffic::data
