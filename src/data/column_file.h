/// ColumnFile writes a new HDF5 file that consists of columns. DatasetWriter and SceneWriter use
/// it.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <set>
#include <string>

#include "chunk_encoder.h"
#include "column_writer.h"
#include "hdf5_handle.h"
#include "traffic/core/atomic_file.h"

namespace traffic::data {

/// Writes to a temporary file in the same folder. commit() renames the temporary file; without
/// commit() the destructor removes it.
class ColumnFile {
 public:
  /// @param compression_level deflate level, 1 to 9; 0 means no compression
  /// @param encoder_threads number of threads that compress; 0 means the caller's thread
  /// @throws ResourceError if the folder cannot be written to or the disk is nearly full
  /// @throws DataError for another compression level
  ColumnFile(const std::filesystem::path& path, int compression_level, int encoder_threads);

  /// Adds a column, and its group if the group is new.
  /// @param layout must outlive this object
  void add(const ColumnLayout& layout, Element element, int width);
  /// A column by its number in the order of add().
  [[nodiscard]] ColumnWriter& column(std::size_t index) { return columns_[index]; }

  /// Writes the chunks that the encoder has finished. Call it often, because finished chunks occupy
  /// memory.
  /// @throws ResourceError if the disk is nearly full
  void store_packed();
  /// Writes all rows that are not written yet.
  /// @return the hash of the content of all columns
  [[nodiscard]] std::uint64_t finish_columns();
  /// The HDF5 file, for writing attributes.
  [[nodiscard]] hid_t id() const { return file_.get(); }
  /// Closes the file, flushes it to the disk and gives it its name. It must be the last call.
  void commit();

 private:
  void store_chunks(bool all);

  std::filesystem::path folder_;
  int compression_level_;
  AtomicFile target_;
  h5::File file_;
  ChunkEncoder encoder_;
  std::set<std::string> groups_;
  std::deque<ColumnWriter> columns_;
  std::int64_t checked_at_bytes_ = 0;  ///< bytes written when the disk space was last checked
};

}  // namespace traffic::data
