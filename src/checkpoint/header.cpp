// Makes, reads and checks the header of a checkpoint file, which holds hashes of the data.
#include "header.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include "traffic/checkpoint/file.h"
#include "traffic/core/error.h"
#include "traffic/core/hash.h"

namespace traffic::checkpoint {
namespace {

constexpr std::uint64_t kMinBlockBytes = 64 * 1024;
constexpr std::size_t kHashedHeaderBytes = offsetof(Header, header_hash);
constexpr const char* kRemedy = "the file is damaged or unfinished: use another checkpoint";

std::uint64_t hash_of_header(const Header& header) {
  return xxh3_64(std::as_bytes(std::span(&header, 1)).first(kHashedHeaderBytes));
}

/// Reads exactly out.size() bytes.
void read_at(int fd, std::uint64_t offset, std::span<std::byte> out,
             const std::filesystem::path& path) {
  while (!out.empty()) {
    const ssize_t got = ::pread(fd, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      throw UnknownCheckpoint("checkpoint {}: cannot read byte {}: {}; use another checkpoint",
                              path.string(), offset, std::generic_category().message(errno));
    }
    if (got == 0) {
      throw CheckpointError("checkpoint {}: cannot read byte {}: the file ends there; {}",
                            path.string(), offset, kRemedy);
    }
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

/// Size in bytes of a block, i.e. of the data that one hash protects. It is the smallest power of
/// two, at least kMinBlockBytes, with which the file has at most kMaxBlocks blocks.
std::uint64_t block_bytes_for(std::uint64_t payload_bytes) {
  std::uint64_t block = kMinBlockBytes;
  while ((payload_bytes + block - 1) / block > kMaxBlocks) block *= 2;
  return block;
}

void check_fields(const Header& header, std::uint64_t file_bytes, const std::string& file) {
  if (header.magic != Header{}.magic) {
    throw CheckpointError(
        "checkpoint {}: header: no signature TRAFCKPT; this file is not a checkpoint of "
        "this program",
        file);
  }
  if (header.version != kFormatVersion) {
    throw UnknownCheckpoint(
        "checkpoint {}: header: format version {}, expected {}; load it with the "
        "program version that wrote it",
        file, header.version, kFormatVersion);
  }
  if (header.header_hash != hash_of_header(header)) {
    throw CheckpointError("checkpoint {}: header: hash {}, expected {}; {}", file,
                          hex64(hash_of_header(header)), hex64(header.header_hash), kRemedy);
  }
  if (header.file_bytes != file_bytes) {
    throw CheckpointError("checkpoint {}: {} bytes found, {} expected; {}", file, file_bytes,
                          header.file_bytes, kRemedy);
  }
  const std::uint64_t payload = file_bytes - kHeaderBytes;
  if (header.header_bytes != kHeaderBytes || header.block_bytes != block_bytes_for(payload) ||
      header.num_blocks != (payload + header.block_bytes - 1) / header.block_bytes) {
    throw CheckpointError(
        "checkpoint {}: header: {} blocks of {} bytes do not fit a file of {} "
        "bytes; {}",
        file, header.num_blocks, header.block_bytes, file_bytes, kRemedy);
  }
}

}  // namespace

Header make_header(std::int64_t step, std::span<const std::byte> payload) {
  Header header;
  header.version = kFormatVersion;
  header.file_bytes = kHeaderBytes + payload.size();
  header.step = step;
  header.block_bytes = block_bytes_for(payload.size());
  for (std::size_t begin = 0; begin < payload.size(); begin += header.block_bytes) {
    const std::size_t length = std::min<std::size_t>(header.block_bytes, payload.size() - begin);
    header.block_hashes.at(header.num_blocks++) = xxh3_64(payload.subspan(begin, length));
  }
  header.header_hash = hash_of_header(header);
  return header;
}

Header read_header(int fd, const std::filesystem::path& path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    throw CheckpointError("checkpoint {}: not a regular file; give the path of a .h5 file",
                          path.string());
  }
  const auto file_bytes = static_cast<std::uint64_t>(info.st_size);
  if (file_bytes <= kHeaderBytes) {
    throw CheckpointError("checkpoint {}: {} bytes found, more than {} expected; {}", path.string(),
                          file_bytes, kHeaderBytes, kRemedy);
  }
  Header header;
  read_at(fd, 0, std::as_writable_bytes(std::span(&header, 1)), path);
  check_fields(header, file_bytes, path.string());
  return header;
}

void verify_blocks(int fd, const Header& header, const std::filesystem::path& path) {
  constexpr std::size_t kPieceBytes = 1 << 20;
  std::vector<std::byte> piece(std::min<std::size_t>(kPieceBytes, header.block_bytes));
  for (std::uint64_t block = 0; block < header.num_blocks; ++block) {
    const std::uint64_t begin = kHeaderBytes + block * header.block_bytes;
    const std::uint64_t end = std::min(begin + header.block_bytes, header.file_bytes);
    Hasher hasher;
    for (std::uint64_t at = begin; at < end; at += piece.size()) {
      const auto part = std::span(piece).first(std::min<std::size_t>(piece.size(), end - at));
      read_at(fd, at, part, path);
      hasher.update(part);
    }
    if (hasher.digest() != header.block_hashes.at(block)) {
      throw CheckpointError("checkpoint {}: bytes {}..{}: hash {}, expected {}; {}", path.string(),
                            begin, end - 1, hex64(hasher.digest()),
                            hex64(header.block_hashes.at(block)), kRemedy);
    }
  }
}

}  // namespace traffic::checkpoint
