/// Applies and undoes the three filters of the format without HDF5. HDF5 only moves stored bytes
/// while it holds its lock, so that several threads can compress at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

struct libdeflate_compressor;
struct libdeflate_decompressor;

namespace traffic::data {

/// Filters of a data set in the order of their application: shuffle, deflate, fletcher32.
struct ChunkFilters {
  bool shuffle = false;
  bool deflate = false;
  bool fletcher32 = false;
};

/// HDF5's Fletcher checksum, over big-endian 16-bit words.
[[nodiscard]] std::uint32_t fletcher32(std::span<const std::byte> bytes);

/// Applies the filters of a new file: shuffle and deflate unless the level is 0, and fletcher32.
/// For use by one thread; reuse it.
class ChunkPacker {
 public:
  /// @param compression_level 0 (none) to 9
  explicit ChunkPacker(int compression_level);
  ~ChunkPacker();
  ChunkPacker(const ChunkPacker&) = delete;
  ChunkPacker& operator=(const ChunkPacker&) = delete;
  /// @param chunk a whole chunk; replaced by the bytes that HDF5 stores
  void pack(std::vector<std::byte>& chunk, std::size_t element_size);

 private:
  libdeflate_compressor* compressor_;  ///< null: no compression
  std::vector<std::byte> shuffled_;
};

/// Buffers and state of decode_chunk(). For use by one thread; reuse it.
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
/// @param out as long as the decoded chunk
/// @return the defect of the bytes; empty if there is none
[[nodiscard]] std::string_view decode_chunk(std::span<const std::byte> stored,
                                            const ChunkFilters& filters, std::uint32_t skipped,
                                            std::size_t element_size, ChunkScratch& scratch,
                                            std::span<std::byte> out);

}  // namespace traffic::data
