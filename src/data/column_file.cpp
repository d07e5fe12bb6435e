// ColumnFile: writes a new HDF5 file that consists of columns (column_file.h).
#include "column_file.h"

#include <array>

#include "traffic/core/process.h"
#include "traffic/core/text.h"

namespace traffic::data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMiB = 1024 * 1024;
/// Number of bytes that are written between two checks of the free disk space.
constexpr std::int64_t kSpaceCheckBytes = 16 * kMiB;
/// Required free disk space. It suffices for the bytes that are written until the next check, and
/// for the rest of the file.
constexpr std::int64_t kReserveBytes = 32 * kMiB;

void check_free_space(const fs::path& folder) {
  const std::int64_t free = free_disk_bytes(folder);
  if (free < kReserveBytes) {
    throw ResourceError(
        "the disk of {} has only {} left, but continuing to write needs at least {}; free some "
        "space there or choose another folder",
        folder.string(), human_bytes(free), human_bytes(kReserveBytes));
  }
}

h5::File create_file(const fs::path& path) {
  h5::enter();
  const h5::Properties access(h5::check(H5Pcreate(H5P_FILE_ACCESS), "file properties"));
  // The file layout of HDF5 1.10 has checksums in all internal structures; older layouts do not.
  h5::check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_V110),
            "file properties");
  const h5::Properties creation(h5::check(H5Pcreate(H5P_FILE_CREATE), "file properties"));
  h5::check(H5Pset_obj_track_times(creation.get(), false), "file properties");
  return h5::File(h5::check(H5Fcreate(path.c_str(), H5F_ACC_EXCL, creation.get(), access.get()),
                            "cannot create " + path.string()));
}

int checked_level(int compression_level) {
  if (compression_level < 0 || compression_level > 9) {
    throw DataError("compression level {} is not within 0 (none) to 9", compression_level);
  }
  return compression_level;
}

}  // namespace

ColumnFile::ColumnFile(const fs::path& path, int compression_level, int encoder_threads)
    : folder_(path.has_parent_path() ? path.parent_path() : fs::path(".")),
      compression_level_(checked_level(compression_level)),
      target_(path),
      encoder_(compression_level, encoder_threads) {
  check_free_space(folder_);
  file_ = create_file(target_.temp_path());
}

void ColumnFile::add(const ColumnLayout& layout, Element element, int width) {
  if (groups_.insert(layout.group).second) {
    const h5::Properties timeless(h5::check(H5Pcreate(H5P_GROUP_CREATE), "group properties"));
    h5::check(H5Pset_obj_track_times(timeless.get(), false), "group properties");
    const h5::Group group(
        h5::check(H5Gcreate2(file_.get(), layout.group, H5P_DEFAULT, timeless.get(), H5P_DEFAULT),
                  fmt::format("create group {}", layout.group)));
  }
  columns_.emplace_back(file_.get(), layout, columns_.size(), element, width, compression_level_,
                        encoder_);
}

void ColumnFile::store_chunks(bool all) {
  Chunk packed;
  while (encoder_.take(packed, all)) columns_[packed.column].store(packed);
}

void ColumnFile::store_packed() {
  store_chunks(false);
  std::int64_t bytes = 0;
  for (const auto& column : columns_) bytes += column.bytes_written();
  if (bytes - checked_at_bytes_ < kSpaceCheckBytes) return;
  checked_at_bytes_ = bytes;
  check_free_space(folder_);
}

std::uint64_t ColumnFile::finish_columns() {
  check_free_space(folder_);
  Hasher hash;
  for (auto& column : columns_) {
    column.finish();
    store_chunks(false);
    const std::array<std::uint64_t, 2> part{static_cast<std::uint64_t>(column.rows()),
                                            column.digest()};
    hash.update(std::as_bytes(std::span(part)));
  }
  store_chunks(true);
  return hash.digest();
}

void ColumnFile::commit() {
  columns_.clear();
  h5::check(H5Fclose(file_.release()), "close " + target_.temp_path().string());
  target_.commit();
}

}  // namespace traffic::data
