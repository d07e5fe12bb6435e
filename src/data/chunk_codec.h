/// The three filters of the format, applied and undone by our own code: HDF5 moves the stored bytes
/// of a chunk under its lock, and the expensive part runs in threads side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

struct libdeflate_compressor;
struct libdeflate_decompressor;

namespace traffic::data {

/// Filters of a data set in the order in which they are applied: shuffle, deflate, fletcher32.
struct ChunkFilters {
  bool shuffle = false;
  bool deflate = false;
  bool fletcher32 = false;
};

/// The checksum as HDF5 computes it (over big-endian 16-bit words).
[[nodiscard]] std::uint32_t fletcher32(std::span<const std::byte> bytes);

/// Applies the filters of a file that is being written: shuffle and deflate unless the level is 0,
/// and fletcher32. One thread's; reuse it.
class ChunkPacker {
 public:
  /// @param compression_level 0 (none) to 9
  explicit ChunkPacker(int compression_level);
  ~ChunkPacker();
  ChunkPacker(const ChunkPacker&) = delete;
  ChunkPacker& operator=(const ChunkPacker&) = delete;
  /// @param chunk a whole chunk; becomes what HDF5 stores
  void pack(std::vector<std::byte>& chunk, std::size_t element_size);

 private:
  libdeflate_compressor* compressor_;  ///< null: no compression
  std::vector<std::byte> shuffled_;
};

/// What decode_chunk needs besides its output. One thread's; reuse it.
class ChunkScratch {
 public:
  ChunkScratch();
  ~ChunkScratch();
  ChunkScratch(const ChunkScratch&) = delete;
  ChunkScratch& operator=(const ChunkScratch&) = delete;

  std::vector<std::byte> shuffled;
  libdeflate_decompressor* decompressor;
};

/// Undoes the filters of one stored chunk.
/// @param skipped HDF5's filter mask: bit i set where filter i was not applied to this chunk
/// @param out exactly as long as the decoded chunk
/// @return empty if all is well, else what is wrong with the bytes
[[nodiscard]] std::string_view decode_chunk(std::span<const std::byte> stored,
                                            const ChunkFilters& filters, std::uint32_t skipped,
                                            std::size_t element_size, ChunkScratch& scratch,
                                            std::span<std::byte> out);

}  // namespace traffic::data
