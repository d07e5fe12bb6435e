/// FrameBlock: a decoded block of recorded frames, with links from each row (a vehicle in a frame)
/// to the same vehicle's rows in other frames.
#pragma once

#include <cstdint>
#include <vector>

#include "traffic/data/batch_source.h"
#include "traffic/data/dataset.h"
#include "traffic/data/reader.h"

namespace traffic::data {

struct FrameBlock final : Block {
  PackedFrames frames;
  std::vector<std::int32_t> next;  ///< [n] the vehicle's next row; -1 if there is none
  std::vector<std::int32_t> prev;  ///< [n] the vehicle's previous row; -1 if there is none

  /// First row of a frame of the block.
  [[nodiscard]] std::int32_t first_row(std::int64_t frame) const {
    return frames.node_ptr[static_cast<std::size_t>(frame)];
  }
};

/// Reads and decodes the frames of `range`.
/// @throws DataError if the file is damaged, or if a frame has a vehicle twice
[[nodiscard]] FrameBlock read_block(const DatasetReader& reader, const BlockRange& range);

}  // namespace traffic::data
