/// The header of a checkpoint file, its first 4096 bytes. It contains the format version, the
/// length of the file, and hashes of all data after the header. file.h describes the whole file.
///
///   offset  type      field
///   0       char[8]   "TRAFCKPT"
///   8       u32       format version
///   12      u32       bytes of the header (4096)
///   16      u64       bytes of the file
///   24      i64       step
///   32      u64       bytes of a block; the last block may be shorter
///   40      u64       number of blocks, at most 505
///   48      u64[505]  XXH3-64 hash of each block; unused entries are zero
///   4088    u64       XXH3-64 hash of bytes 0..4087
///
/// All numbers are little-endian.
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

/// Thrown if the file may be a good checkpoint, but this process cannot read it: access is denied,
/// the device fails, or the format version is not the one of this program.
class UnknownCheckpoint : public CheckpointError {
  using CheckpointError::CheckpointError;
};

/// Makes the header of a file. @param payload the bytes after the header
Header make_header(std::int64_t step, std::span<const std::byte> payload);

/// Reads and checks the header of an open file.
/// @throws UnknownCheckpoint if the file cannot be read or has another format version
/// @throws CheckpointError if the file is damaged or is not a checkpoint
Header read_header(int fd, const std::filesystem::path& path);

/// Compares every block after the header with its hash.
/// @throws CheckpointError naming the damaged range
void verify_blocks(int fd, const Header& header, const std::filesystem::path& path);

}  // namespace traffic::checkpoint
