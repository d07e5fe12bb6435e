/// Compresses and decompresses chunks, the units in which HDF5 stores a column. Applies and undoes
/// the three HDF5 filters of the file format without calling HDF5, which has one lock for the whole
/// library. HDF5 then holds the lock only while it reads or writes the stored bytes, so several
/// threads can compress at once.
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

/// Applies the filters of a new file to chunks: shuffle and deflate if the compression level is not
/// 0, and always fletcher32. Only one thread may use it. Reuse it, because it owns buffers.
class ChunkPacker {
 public:
  /// @param compression_level 0 (no compression) to 9
  explicit ChunkPacker(int compression_level);
  ~ChunkPacker();
  ChunkPacker(const ChunkPacker&) = delete;
  ChunkPacker& operator=(const ChunkPacker&) = delete;
  /// @param chunk a whole chunk; replaced by the bytes that HDF5 stores
  void pack(std::vector<std::byte>& chunk, std::size_t element_size);

 private:
  libdeflate_compressor* compressor_;  ///< null if the chunks are not compressed
  std::vector<std::byte> shuffled_;
};

/// Buffers and state of decode_chunk(). Only one thread may use it. Reuse it to avoid allocations.
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
/// @param skipped HDF5's filter mask: bit i is set if filter i was not applied to this chunk
/// @param out receives the decoded chunk and must have its size
/// @return a description of the damage; empty if the chunk is undamaged
[[nodiscard]] std::string_view decode_chunk(std::span<const std::byte> stored,
                                            const ChunkFilters& filters, std::uint32_t skipped,
                                            std::size_t element_size, ChunkScratch& scratch,
                                            std::span<std::byte> out);

}  // namespace traffic::data
