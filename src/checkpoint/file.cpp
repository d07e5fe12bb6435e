#include "traffic/checkpoint/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "h5.h"
#include "header.h"
#include "image.h"
#include "reader.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"
#include "traffic/os/descriptor.h"

namespace traffic::checkpoint {
namespace {

/// Open for reading.
os::Descriptor open_file(const std::filesystem::path& path) {
  os::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) {
    throw CheckpointError("checkpoint {}: cannot open it: {}; check the path", path.string(),
                          std::generic_category().message(errno));
  }
  return file;
}

FileInfo info_of(const Header& header) {
  return {header.step, static_cast<std::int64_t>(header.file_bytes)};
}

}  // namespace

void save(const Snapshot& snapshot, const std::filesystem::path& path) {
  const h5::QuietErrors quiet;
  try {
    const Image image(snapshot);
    if (fault::hit("checkpoint.save", 0, snapshot.step()) == fault::Action::kFail) {
      throw io_error("write", path, ENOSPC);
    }
    write_file_atomically(path, image.bytes());
  } catch (const h5::CallFailed& failure) {
    throw ResourceError(
        "cannot build checkpoint {} in memory ({} bytes of values): {}; free some memory",
        path.string(), snapshot.total_bytes(), failure.message);
  }
}

Snapshot load(const std::filesystem::path& path) {
  const h5::QuietErrors quiet;
  const os::Descriptor file = open_file(path);
  const Header header = read_header(file.get(), path);
  verify_blocks(file.get(), header, path);
  Snapshot snapshot(header.step);
  snapshot.set_source(path.string());
  try {
    Reader(file.get(), path, header.file_bytes).read_into(snapshot);
  } catch (const h5::CallFailed& failure) {
    throw CheckpointError("checkpoint {}: HDF5 cannot read it: {}; use another checkpoint",
                          path.string(), failure.message);
  }
  return snapshot;
}

FileInfo read_info(const std::filesystem::path& path) {
  const os::Descriptor file = open_file(path);
  return info_of(read_header(file.get(), path));
}

FileInfo verify(const std::filesystem::path& path) {
  const os::Descriptor file = open_file(path);
  const Header header = read_header(file.get(), path);
  verify_blocks(file.get(), header, path);
  return info_of(header);
}

}  // namespace traffic::checkpoint
