// Reads a block of frames, and links the rows of each vehicle (frame_block.h).
#include "frame_block.h"

#include <unordered_map>

#include "traffic/core/error.h"

namespace traffic::data {

FrameBlock read_block(const DatasetReader& reader, const BlockRange& range) {
  FrameBlock block;
  block.frames = reader.read_frames(range.first_frame, range.num_frames);
  const auto& ids = block.frames.vehicle_id;
  block.next.assign(ids.size(), -1);
  block.prev.assign(ids.size(), -1);
  std::unordered_map<std::uint32_t, std::int32_t> last_row;
  for (std::int64_t frame = 0; frame < range.num_frames; ++frame) {
    const std::int32_t first = block.first_row(frame);
    for (std::int32_t row = first; row < block.first_row(frame + 1); ++row) {
      const std::uint32_t id = ids[static_cast<std::size_t>(row)];
      const auto [entry, is_new] = last_row.try_emplace(id, row);
      if (is_new) continue;
      if (entry->second >= first) {
        throw DataError(
            "{}: column nodes/vehicle_id: frame {} has vehicle {} twice, expected each vehicle "
            "once; make the file with data_prep again",
            reader.path(), range.first_frame + frame, id);
      }
      block.prev[static_cast<std::size_t>(row)] = entry->second;
      block.next[static_cast<std::size_t>(entry->second)] = row;
      entry->second = row;
    }
  }
  return block;
}

}  // namespace traffic::data
