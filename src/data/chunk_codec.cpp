// Compresses and decompresses chunks of a column as HDF5's filters do (chunk_codec.h).
#include "chunk_codec.h"

#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace traffic::data {
namespace {

template <std::size_t Size>
void shuffle_elements(const std::byte* in, std::size_t n, std::byte* out) {
  for (std::size_t j = 0; j < Size; ++j) {
    for (std::size_t i = 0; i < n; ++i) out[j * n + i] = in[i * Size + j];
  }
}

template <std::size_t Size>
void unshuffle_elements(const std::byte* in, std::size_t n, std::byte* out) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < Size; ++j) out[i * Size + j] = in[j * n + i];
  }
}

enum class Direction { kShuffle, kUnshuffle };

/// Shuffles or unshuffles bytes as HDF5's filter "shuffle" does. Shuffling n elements moves byte j
/// of element i to position j * n + i; unshuffling moves it back. Bytes after the last whole
/// element, and elements of one byte, stay in place.
template <Direction D>
void reorder(std::span<const std::byte> in, std::size_t element_size, std::byte* out) {
  const auto of = [&]<std::size_t Size>() {
    const std::size_t n = in.size() / Size;
    if constexpr (D == Direction::kShuffle) {
      shuffle_elements<Size>(in.data(), n, out);
    } else {
      unshuffle_elements<Size>(in.data(), n, out);
    }
    return n * Size;
  };
  std::size_t done = 0;
  if (element_size == 2) done = of.template operator()<2>();
  if (element_size == 4) done = of.template operator()<4>();
  if (element_size == 8) done = of.template operator()<8>();
  std::memcpy(out + done, in.data() + done, in.size() - done);
}

/// Decompresses data in zlib format.
/// @return whether the result has exactly out.size() bytes
bool inflate_exactly(std::span<const std::byte> in, libdeflate_decompressor* decompressor,
                     std::span<std::byte> out) {
  return libdeflate_zlib_decompress(decompressor, in.data(), in.size(), out.data(), out.size(),
                                    nullptr) == LIBDEFLATE_SUCCESS;
}

}  // namespace

std::uint32_t fletcher32(std::span<const std::byte> bytes) {
  // 32-bit sums cannot overflow while at most 360 words are added between two folds.
  constexpr std::size_t kWordsPerFold = 360;
  const auto fold = [](std::uint32_t sum) { return (sum & 0xffffU) + (sum >> 16); };
  std::uint32_t sum1 = 0;
  std::uint32_t sum2 = 0;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t words = bytes.size() / 2;
  while (words > 0) {
    const std::size_t run = std::min(words, kWordsPerFold);
    words -= run;
    for (std::size_t i = 0; i < run; ++i, data += 2) {
      sum1 += static_cast<std::uint32_t>(data[0]) << 8 | data[1];
      sum2 += sum1;
    }
    sum1 = fold(sum1);
    sum2 = fold(sum2);
  }
  if (bytes.size() % 2 != 0) {
    sum1 += static_cast<std::uint32_t>(*data) << 8;
    sum2 += sum1;
    sum1 = fold(sum1);
    sum2 = fold(sum2);
  }
  sum1 = fold(sum1);
  sum2 = fold(sum2);
  return sum2 << 16 | sum1;
}

ChunkPacker::ChunkPacker(int compression_level)
    : compressor_(compression_level > 0 ? libdeflate_alloc_compressor(compression_level)
                                        : nullptr) {
  if (compression_level > 0 && compressor_ == nullptr) throw std::bad_alloc();
}

ChunkPacker::~ChunkPacker() { libdeflate_free_compressor(compressor_); }

void ChunkPacker::pack(std::vector<std::byte>& chunk, std::size_t element_size) {
  if (compressor_ != nullptr) {
    shuffled_.resize(chunk.size());
    reorder<Direction::kShuffle>(chunk, element_size, shuffled_.data());
    // libdeflate returns 0 if the buffer is too small. The buffer has the maximum size of
    // compressed bytes, so this cannot happen.
    chunk.resize(libdeflate_zlib_compress_bound(compressor_, shuffled_.size()));
    chunk.resize(libdeflate_zlib_compress(compressor_, shuffled_.data(), shuffled_.size(),
                                          chunk.data(), chunk.size()));
  }
  const std::uint32_t sum = fletcher32(chunk);
  const auto* bytes = reinterpret_cast<const std::byte*>(&sum);
  chunk.insert(chunk.end(), bytes, bytes + sizeof(sum));
}

ChunkScratch::ChunkScratch() : decompressor(libdeflate_alloc_decompressor()) {
  if (decompressor == nullptr) throw std::bad_alloc();
}

ChunkScratch::~ChunkScratch() { libdeflate_free_decompressor(decompressor); }

std::string_view decode_chunk(std::span<const std::byte> stored, const ChunkFilters& filters,
                              std::uint32_t skipped, std::size_t element_size,
                              ChunkScratch& scratch, std::span<std::byte> out) {
  // Bit i of the mask `skipped` stands for filter i among the filters that the data set has.
  std::uint32_t bit = 1;
  const auto applied = [&](bool present) {
    if (!present) return false;
    const bool is_applied = (skipped & bit) == 0;
    bit <<= 1;
    return is_applied;
  };
  const bool shuffled = applied(filters.shuffle) && element_size > 1;
  const bool deflated = applied(filters.deflate);
  if (applied(filters.fletcher32)) {
    if (stored.size() < sizeof(std::uint32_t)) return "the chunk is shorter than its checksum";
    const auto data = stored.first(stored.size() - sizeof(std::uint32_t));
    std::uint32_t expected = 0;
    std::memcpy(&expected, stored.data() + data.size(), sizeof(expected));
    if (fletcher32(data) != expected) return "the checksum (fletcher32) does not match";
    stored = data;
  }
  if (deflated) {
    if (!shuffled) {
      return inflate_exactly(stored, scratch.decompressor, out)
                 ? ""
                 : "the compressed bytes (deflate) are damaged";
    }
    scratch.shuffled.resize(out.size());
    if (!inflate_exactly(stored, scratch.decompressor, scratch.shuffled)) {
      return "the compressed bytes (deflate) are damaged";
    }
    stored = scratch.shuffled;
  }
  if (stored.size() != out.size()) return "the chunk has the wrong number of bytes";
  if (shuffled) {
    reorder<Direction::kUnshuffle>(stored, element_size, out.data());
  } else {
    std::memcpy(out.data(), stored.data(), out.size());
  }
  return "";
}

}  // namespace traffic::data
