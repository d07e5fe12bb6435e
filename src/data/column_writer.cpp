// ColumnWriter: writes one column of a new HDF5 file (column_writer.h).
#include "column_writer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "traffic/core/float16.h"

namespace traffic::data {
namespace {

h5::Properties creation_properties(const ColumnLayout& layout, int width, int compression_level) {
  h5::Properties properties(h5::check(H5Pcreate(H5P_DATASET_CREATE), "data set properties"));
  const std::array<hsize_t, 2> chunk{static_cast<hsize_t>(layout.chunk_rows),
                                     static_cast<hsize_t>(width)};
  h5::check(H5Pset_chunk(properties.get(), layout.rank, chunk.data()), "chunk size");
  if (compression_level > 0) {
    h5::check(H5Pset_shuffle(properties.get()), "shuffle filter");
    h5::check(H5Pset_deflate(properties.get(), static_cast<unsigned>(compression_level)),
              "deflate filter");
  }
  h5::check(H5Pset_fletcher32(properties.get()), "fletcher32 filter");
  // Without creation times, two recordings of the same traffic give equal files.
  h5::check(H5Pset_obj_track_times(properties.get(), false), "data set properties");
  return properties;
}

}  // namespace

ColumnWriter::ColumnWriter(hid_t file, const ColumnLayout& layout, std::size_t index,
                           Element element, int width, int compression_level, ChunkEncoder& encoder)
    : layout_(layout),
      index_(index),
      element_(element),
      width_(static_cast<std::size_t>(width)),
      row_bytes_(size_of(element) * width_),
      chunk_bytes_(row_bytes_ * static_cast<std::size_t>(layout_.chunk_rows)),
      encoder_(encoder) {
  const h5::Datatype type = h5::file_type(element);
  const std::array<hsize_t, 2> none{0, static_cast<hsize_t>(width)};
  const std::array<hsize_t, 2> limit{H5S_UNLIMITED, static_cast<hsize_t>(width)};
  const h5::Dataspace space(
      h5::check(H5Screate_simple(layout_.rank, none.data(), limit.data()), "data space"));
  const auto properties = creation_properties(layout_, width, compression_level);
  dataset_ = h5::Dataset(h5::check(H5Dcreate2(file, layout_.path().c_str(), type.get(), space.get(),
                                              H5P_DEFAULT, properties.get(), H5P_DEFAULT),
                                   "create " + layout_.path()));
}

void ColumnWriter::append(std::span<const std::byte> rows) {
  hash_.update(rows);
  while (!rows.empty()) {
    const auto piece = rows.first(std::min(rows.size(), chunk_bytes_ - buffer_.size()));
    if (buffer_.empty() && piece.size() < chunk_bytes_) buffer_.reserve(chunk_bytes_);
    buffer_.insert(buffer_.end(), piece.begin(), piece.end());
    rows = rows.subspan(piece.size());
    if (buffer_.size() == chunk_bytes_) give_chunk();
  }
}

std::int64_t ColumnWriter::append_features(std::span<const float> values) {
  if (element_ == Element::kF32) {
    append_values(values);
    return -1;
  }
  halves_.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    halves_[i] = float_to_half(values[i]);
    if ((halves_[i] & 0x7c00U) == 0x7c00U) return static_cast<std::int64_t>(i);
  }
  append_values(std::span<const std::uint16_t>(halves_));
  return -1;
}

void ColumnWriter::finish() {
  if (!buffer_.empty()) give_chunk();
}

void ColumnWriter::give_chunk() {
  Chunk chunk{.column = index_,
              .first_row = rows_given_,
              .rows = static_cast<std::int64_t>(buffer_.size() / row_bytes_),
              .element_size = size_of(element_),
              .bytes = std::exchange(buffer_, {})};
  rows_given_ += chunk.rows;
  chunk.bytes.resize(chunk_bytes_);
  encoder_.give(std::move(chunk));
}

void ColumnWriter::store(const Chunk& packed) {
  const std::string what = "write " + layout_.path();
  const std::array<hsize_t, 2> size{static_cast<hsize_t>(packed.first_row + packed.rows), width_};
  const std::array<hsize_t, 2> start{static_cast<hsize_t>(packed.first_row), 0};
  h5::check(H5Dset_extent(dataset_.get(), size.data()), what);
  h5::check(H5Dwrite_chunk(dataset_.get(), H5P_DEFAULT, 0, start.data(), packed.bytes.size(),
                           packed.bytes.data()),
            what);
  bytes_written_ += static_cast<std::int64_t>(packed.bytes.size());
}

}  // namespace traffic::data
