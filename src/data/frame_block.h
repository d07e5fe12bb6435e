/// A decoded block of frames with links between the rows of each vehicle.
#pragma once

#include <cstdint>
#include <vector>

#include "traffic/data/batch_source.h"
#include "traffic/data/dataset.h"
#include "traffic/data/reader.h"

namespace traffic::data {

struct FrameBlock final : Block {
  PackedFrames frames;
  std::vector<std::int32_t> next;  ///< [n] row of the vehicle's next appearance; -1: none
  std::vector<std::int32_t> prev;  ///< [n] row of the vehicle's previous appearance; -1: none

  /// First row of a frame of the block.
  [[nodiscard]] std::int32_t first_row(std::int64_t frame) const {
    return frames.node_ptr[static_cast<std::size_t>(frame)];
  }
};

/// @throws DataError if a frame has a vehicle twice, or as DatasetReader::read_frames
[[nodiscard]] FrameBlock read_block(const DatasetReader& reader, const BlockRange& range);

}  // namespace traffic::data
