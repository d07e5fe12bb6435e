/// A new HDF5 file of columns, which appears under its name when it is complete.
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

/// Until commit() the file is a temporary one in the same folder, which the destructor removes.
class ColumnFile {
 public:
  /// @param compression_level of deflate, 1 to 9; 0: neither shuffle nor deflate
  /// @param encoder_threads threads that compress; the file does not depend on their number
  /// @throws ResourceError if the folder cannot be written or is nearly full; DataError for another
  /// compression level
  ColumnFile(const std::filesystem::path& path, int compression_level, int encoder_threads);

  /// Adds a column, and its group if that is new. @param layout must outlive this
  void add(const ColumnLayout& layout, Element element, int width);
  /// A column by its number in the order of add().
  [[nodiscard]] ColumnWriter& column(std::size_t index) { return columns_[index]; }

  /// Stores the chunks that are packed. Call it from time to time, so that they do not pile up.
  /// @throws ResourceError if the disk is nearly full
  void store_packed();
  /// Stores all rows. @return the hash of the content of all columns
  [[nodiscard]] std::uint64_t finish_columns();
  /// For the attributes.
  [[nodiscard]] hid_t id() const { return file_.get(); }
  /// Makes the file durable under its name. It must be the last call.
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
  std::int64_t checked_at_bytes_ = 0;
};

}  // namespace traffic::data
