/// One data set of the file while it is written: rows are gathered to whole chunks, so that each
/// chunk is compressed once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hdf5_handle.h"
#include "traffic/core/hash.h"
#include "traffic/data/format.h"

namespace traffic::data {

class ColumnWriter {
 public:
  /// Creates the data set in its group, which must exist.
  ColumnWriter(hid_t file, const ColumnSpec& spec, Element element, int width,
               int compression_level);

  /// Whole rows in the file's element type.
  void append(std::span<const std::byte> rows);
  template <typename T>
  void append_values(std::span<const T> values) {
    append(std::as_bytes(values));
  }
  /// float32 values, converted if the column is float16.
  /// @return index of the first value that float16 cannot hold, else -1 (and the rows are appended)
  [[nodiscard]] std::int64_t append_features(std::span<const float> values);
  /// Writes what is left.
  void finish();

  [[nodiscard]] std::int64_t rows() const {
    return rows_written_ + static_cast<std::int64_t>(buffer_.size() / row_bytes_);
  }
  /// Bytes handed to HDF5 so far, before compression.
  [[nodiscard]] std::int64_t bytes_written() const {
    return rows_written_ * static_cast<std::int64_t>(row_bytes_);
  }
  [[nodiscard]] std::uint64_t digest() const { return hash_.digest(); }

 private:
  void write_rows(std::size_t rows);

  const ColumnSpec& spec_;
  Element element_;
  std::size_t row_bytes_;
  h5::Datatype type_;
  h5::Dataset dataset_;
  std::vector<std::byte> buffer_;
  std::vector<std::uint16_t> halves_;
  std::int64_t rows_written_ = 0;
  Hasher hash_;
};

}  // namespace traffic::data
