/// The header of a checkpoint file: format, length, and hashes of everything after it.
///
///   offset  type      field
///   0       char[8]   "TRAFCKPT"
///   8       u32       format version
///   12      u32       bytes of the header (4096)
///   16      u64       bytes of the file
///   24      i64       step
///   32      u64       bytes of a block (the last one may be shorter)
///   40      u64       number of blocks, at most 505
///   48      u64[505]  XXH3-64 of each block, zero where there is none
///   4088    u64       XXH3-64 of bytes 0..4087
///
/// Little-endian.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "traffic/core/error.h"

namespace traffic::checkpoint {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

inline constexpr std::size_t kHeaderBytes = 4096;
inline constexpr std::size_t kMaxBlocks = 505;

struct Header {
  std::array<char, 8> magic{'T', 'R', 'A', 'F', 'C', 'K', 'P', 'T'};
  std::uint32_t version = 0;
  std::uint32_t header_bytes = kHeaderBytes;
  std::uint64_t file_bytes = 0;
  std::int64_t step = 0;
  std::uint64_t block_bytes = 0;
  std::uint64_t num_blocks = 0;
  std::array<std::uint64_t, kMaxBlocks> block_hashes{};
  std::uint64_t header_hash = 0;
};
static_assert(sizeof(Header) == kHeaderBytes);

/// The file may be a good checkpoint, but this process cannot read it: access is denied, the device
/// fails, or the format version is another one.
class UnknownCheckpoint : public CheckpointError {
  using CheckpointError::CheckpointError;
};

/// Header for a file whose bytes after the header are `payload`.
Header make_header(std::int64_t step, std::span<const std::byte> payload);

/// Reads and checks the header of an open file.
/// @throws UnknownCheckpoint, CheckpointError
Header read_header(int fd, const std::filesystem::path& path);

/// Compares every block after the header with its hash.
/// @throws CheckpointError naming the damaged range
void verify_blocks(int fd, const Header& header, const std::filesystem::path& path);

}  // namespace traffic::checkpoint
