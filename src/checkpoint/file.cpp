// Writes, reads and checks checkpoint files (file.h).
#include "traffic/checkpoint/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <system_error>

#include "h5.h"
#include "header.h"
#include "image.h"
#include "part_folder.h"
#include "reader.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"
#include "traffic/os/descriptor.h"

namespace traffic::checkpoint {
namespace {

/// Opens a checkpoint for reading.
os::Descriptor open_file(const std::filesystem::path& path) {
  os::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.is_open()) return file;
  const int error = errno;
  const std::string text = fmt::format("checkpoint {}: cannot open it: {}; check the path",
                                       path.string(), std::generic_category().message(error));
  if (error == ENOENT) throw CheckpointError(text);
  throw UnknownCheckpoint(text);
}

FileInfo info_of(const Header& header) {
  return {.step = header.step,
          .bytes = static_cast<std::int64_t>(header.file_bytes),
          .hash = header.header_hash};
}

}  // namespace

FileImage::FileImage(const Snapshot& snapshot) : named_parts_(words_naming_parts(snapshot)) {
  const h5::QuietErrors quiet;
  try {
    image_ = std::make_unique<Image>(snapshot);
  } catch (const h5::CallFailed& failure) {
    throw ResourceError(
        "cannot build the checkpoint of step {} in memory ({} bytes of values): {}; free some "
        "memory",
        snapshot.step(), snapshot.total_bytes(), failure.message);
  }
}

FileImage::~FileImage() = default;
FileImage::FileImage(FileImage&& other) noexcept = default;
FileImage& FileImage::operator=(FileImage&& other) noexcept = default;

std::int64_t FileImage::step() const { return image_->step(); }

FileInfo FileImage::write(const std::filesystem::path& path) const {
  if (fault::hit("checkpoint.save", 0, step()) == fault::Action::kFail) {
    throw io_error("write", path, ENOSPC);
  }
  const std::span<const std::byte> bytes = image_->seal();
  write_file_atomically(path, bytes);
  Header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  return info_of(header);
}

void save(const Snapshot& snapshot, const std::filesystem::path& path) {
  FileImage(snapshot).write(path);
}

Snapshot load(const std::filesystem::path& path, std::string_view prefix) {
  const h5::QuietErrors quiet;
  const os::Descriptor file = open_file(path);
  const Header header = read_header(file.get(), path);
  verify_blocks(file.get(), header, path);
  Snapshot snapshot(header.step);
  snapshot.set_source(path.string());
  try {
    Reader(file.get(), path, header.file_bytes).read_into(snapshot, prefix);
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

std::string library() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("HDF5 {}.{}.{}", major, minor, release);
}

FileInfo verify(const std::filesystem::path& path) {
  const os::Descriptor file = open_file(path);
  const Header header = read_header(file.get(), path);
  verify_blocks(file.get(), header, path);
  return info_of(header);
}

}  // namespace traffic::checkpoint
