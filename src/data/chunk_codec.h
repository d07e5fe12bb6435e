/// The three filters of the format, undone by our own code: HDF5 hands out the stored bytes of a
/// chunk under its lock, and the expensive part runs in the reader threads side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace traffic::data {

/// Filters of a data set in the order in which they are applied: shuffle, deflate, fletcher32.
struct ChunkFilters {
  bool shuffle = false;
  bool deflate = false;
  bool fletcher32 = false;
};

/// The checksum as HDF5 computes it (over big-endian 16-bit words).
[[nodiscard]] std::uint32_t fletcher32(std::span<const std::byte> bytes);

/// Memory that decode_chunk needs besides its output; reuse it.
using ChunkScratch = std::vector<std::byte>;

/// Undoes the filters of one stored chunk.
/// @param skipped HDF5's filter mask: bit i set where filter i was not applied to this chunk
/// @param out exactly as long as the decoded chunk
/// @return empty if all is well, else what is wrong with the bytes
[[nodiscard]] std::string_view decode_chunk(std::span<const std::byte> stored,
                                            const ChunkFilters& filters, std::uint32_t skipped,
                                            std::size_t element_size, ChunkScratch& scratch,
                                            std::span<std::byte> out);

}  // namespace traffic::data
