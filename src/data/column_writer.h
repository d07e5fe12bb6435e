/// ColumnWriter writes one column (an HDF5 data set) of a new file. It collects rows into chunks
/// and gives them to a ChunkEncoder, which compresses them.
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
  /// Creates the HDF5 data set in its group, which must exist.
  /// @param layout must outlive this object
  /// @param index number of the column in the file; its chunks contain it (Chunk::column)
  ColumnWriter(hid_t file, const ColumnLayout& layout, std::size_t index, Element element,
               int width, int compression_level, ChunkEncoder& encoder);

  /// Appends whole rows in the element type of the file.
  void append(std::span<const std::byte> rows);
  template <typename T>
  void append_values(std::span<const T> values) {
    append(std::as_bytes(values));
  }
  /// Appends float32 values, converted if the column is float16.
  /// @return -1 if the values were appended. If float16 cannot hold a value: the index of the first
  ///   such value; then nothing is appended
  [[nodiscard]] std::int64_t append_features(std::span<const float> values);
  /// Gives the last, incomplete chunk to the encoder.
  void finish();
  /// Stores a packed chunk of this column in the file.
  void store(const Chunk& packed);

  [[nodiscard]] std::int64_t rows() const {
    return rows_given_ + static_cast<std::int64_t>(buffer_.size() / row_bytes_);
  }
  /// Number of bytes stored so far.
  [[nodiscard]] std::int64_t bytes_written() const { return bytes_written_; }
  /// Hash of all rows that were appended.
  [[nodiscard]] std::uint64_t digest() const { return hash_.digest(); }

 private:
  void give_chunk();

  const ColumnLayout& layout_;
  std::size_t index_;
  Element element_;
  std::size_t width_;
  std::size_t row_bytes_;
  std::size_t chunk_bytes_;
  ChunkEncoder& encoder_;
  h5::Dataset dataset_;
  std::vector<std::byte> buffer_;      ///< rows of the incomplete chunk
  std::vector<std::uint16_t> halves_;  ///< buffer for values converted to float16
  std::int64_t rows_given_ = 0;        ///< rows in chunks that were given to the encoder
  std::int64_t bytes_written_ = 0;
  Hasher hash_;
};

}  // namespace traffic::data
