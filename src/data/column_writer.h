/// One data set of the file while it is written: rows are gathered to whole chunks, which an
/// encoder packs before they are stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "chunk_encoder.h"
#include "hdf5_handle.h"
#include "traffic/core/hash.h"
#include "traffic/data/format.h"

namespace traffic::data {

class ColumnWriter {
 public:
  /// Creates the data set in its group, which must exist.
  /// @param index the column's, by which its chunks come back from the encoder
  ColumnWriter(hid_t file, std::size_t index, Element element, int width, int compression_level,
               ChunkEncoder& encoder);

  /// Whole rows in the file's element type.
  void append(std::span<const std::byte> rows);
  template <typename T>
  void append_values(std::span<const T> values) {
    append(std::as_bytes(values));
  }
  /// float32 values, converted if the column is float16.
  /// @return index of the first value that float16 cannot hold, else -1 (and the rows are appended)
  [[nodiscard]] std::int64_t append_features(std::span<const float> values);
  /// Gives what is left to the encoder.
  void finish();
  /// Writes a packed chunk of this column.
  void store(const Chunk& packed);

  [[nodiscard]] std::int64_t rows() const {
    return rows_given_ + static_cast<std::int64_t>(buffer_.size() / row_bytes_);
  }
  /// Bytes stored so far.
  [[nodiscard]] std::int64_t bytes_written() const { return bytes_written_; }
  [[nodiscard]] std::uint64_t digest() const { return hash_.digest(); }

 private:
  void give_chunk();

  const ColumnSpec& spec_;
  std::size_t index_;
  Element element_;
  std::size_t width_;
  std::size_t row_bytes_;
  std::size_t chunk_bytes_;
  ChunkEncoder& encoder_;
  h5::Dataset dataset_;
  std::vector<std::byte> buffer_;  ///< less than a chunk
  std::vector<std::uint16_t> halves_;
  std::int64_t rows_given_ = 0;
  std::int64_t bytes_written_ = 0;
  Hasher hash_;
};

}  // namespace traffic::data
