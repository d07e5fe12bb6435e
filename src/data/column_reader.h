/// ColumnReader reads one column (an HDF5 data set) of an open file. It checks type, shape and
/// storage of the column before any read, and decodes chunks with chunk_codec.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "chunk_codec.h"
#include "hdf5_handle.h"
#include "traffic/data/format.h"

namespace traffic::data {

/// The advice at the end of messages about files that violate the format.
inline constexpr std::string_view kRemedy = "copy the file or make it with data_prep again";

/// Opens a data set file for reading.
/// @throws DataError that distinguishes missing, empty, truncated, locked and damaged files, and
///   files that are not HDF5
/// @throws ResourceError if this build of HDF5 is not thread-safe
[[nodiscard]] h5::File open_data_file(const std::string& path);

class ColumnReader {
 public:
  /// @param width number of elements per row that the format requires
  /// @throws DataError with the file, the column, what was found and expected, and advice
  ColumnReader(hid_t file, const std::string& path, std::int64_t file_bytes,
               const ColumnLayout& spec, int width);

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  /// The element type in the file: float16 or float32 where the format allows both.
  [[nodiscard]] Element element() const { return element_; }
  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] std::size_t row_bytes() const { return row_bytes_; }
  [[nodiscard]] std::int64_t chunk_rows() const { return chunk_rows_; }
  [[nodiscard]] std::int64_t num_chunks() const { return (rows_ + chunk_rows_ - 1) / chunk_rows_; }
  [[nodiscard]] const ChunkFilters& filters() const { return filters_; }
  /// Size in the file, after compression.
  [[nodiscard]] std::int64_t stored_bytes() const;

  /// Reads the rows first to first + count - 1. Columns without chunks (contiguous ones), which
  /// have no filters, are read from the file without HDF5. Thread-safe.
  /// @param out receives the rows: count * row_bytes() bytes
  /// @throws DataError naming the damaged chunk
  void read(std::int64_t first, std::int64_t count, std::span<std::byte> out) const;
  template <typename T>
  void read_values(std::int64_t first, std::int64_t count, std::span<T> out) const {
    read(first, count, std::as_writable_bytes(out));
  }

  /// "FILE: column nodes/features", for messages
  [[nodiscard]] std::string where() const;

 private:
  void check_type();
  void check_shape(std::int64_t file_bytes);
  void check_storage();
  void read_filters(hid_t properties);
  void find_contiguous(hid_t file, std::int64_t file_bytes);
  void read_chunk(std::int64_t chunk, std::span<std::byte> out) const;
  void read_contiguous(std::int64_t first, std::span<std::byte> out) const;

  std::string path_;
  const ColumnLayout& spec_;
  int width_;
  h5::Dataset dataset_;
  Element element_;
  std::size_t row_bytes_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t chunk_rows_ = 1;
  ChunkFilters filters_;
  int descriptor_ = -1;     ///< the open file if the column is contiguous; otherwise -1
  std::int64_t begin_ = 0;  ///< position of a contiguous column in the file
};

}  // namespace traffic::data
