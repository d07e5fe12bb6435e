/// One data set of an open file: its schema is checked before anything is read, and its chunks are
/// decoded by our own codec.
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

/// What to do about a file that is not as the format says.
inline constexpr std::string_view kRemedy = "copy the file or make it with data_prep again";

/// A file of the format, open for reading; what is wrong with it is told apart: missing, empty, not
/// HDF5, truncated, locked, damaged.
/// @throws DataError, ResourceError
[[nodiscard]] h5::File open_data_file(const std::string& path);

class ColumnReader {
 public:
  /// @param width elements a row that the format demands
  /// @throws DataError naming file, data set, found, expected and remedy
  ColumnReader(hid_t file, const std::string& path, std::int64_t file_bytes, const ColumnSpec& spec,
               int width);

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  /// As found: float16 or float32 where the format leaves the choice.
  [[nodiscard]] Element element() const { return element_; }
  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] std::size_t row_bytes() const { return row_bytes_; }
  [[nodiscard]] std::int64_t chunk_rows() const { return chunk_rows_; }
  [[nodiscard]] std::int64_t num_chunks() const { return (rows_ + chunk_rows_ - 1) / chunk_rows_; }
  [[nodiscard]] const ChunkFilters& filters() const { return filters_; }
  /// Bytes in the file, compressed.
  [[nodiscard]] std::int64_t stored_bytes() const;

  /// Decodes rows first .. first + count; rows that lie in the file as they are go from the page
  /// cache to `out` without a stop. May be called by several threads at once.
  /// @param out count * row_bytes()
  /// @throws DataError naming the damaged chunk
  void read(std::int64_t first, std::int64_t count, std::span<std::byte> out) const;
  template <typename T>
  void read_values(std::int64_t first, std::int64_t count, std::span<T> out) const {
    read(first, count, std::as_writable_bytes(out));
  }

  /// "FILE: data set nodes/features", for messages
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
  const ColumnSpec& spec_;
  int width_;
  h5::Dataset dataset_;
  Element element_;
  std::size_t row_bytes_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t chunk_rows_ = 1;
  ChunkFilters filters_;
  int descriptor_ = -1;     ///< of the open file, if the rows lie in it one after the other
  std::int64_t begin_ = 0;  ///< where they do
};

}  // namespace traffic::data
