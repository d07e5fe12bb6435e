#include "column_writer.h"

#include <array>

#include "traffic/core/float16.h"

namespace traffic::data {
namespace {

h5::Properties creation_properties(const ColumnSpec& spec, int width, int compression_level) {
  h5::Properties properties(h5::check(H5Pcreate(H5P_DATASET_CREATE), "data set properties"));
  const std::array<hsize_t, 2> chunk{static_cast<hsize_t>(spec.chunk_rows),
                                     static_cast<hsize_t>(width)};
  h5::check(H5Pset_chunk(properties.get(), spec.rank, chunk.data()), "chunk size");
  if (compression_level > 0) {
    h5::check(H5Pset_shuffle(properties.get()), "shuffle filter");
    h5::check(H5Pset_deflate(properties.get(), static_cast<unsigned>(compression_level)),
              "deflate filter");
  }
  h5::check(H5Pset_fletcher32(properties.get()), "fletcher32 filter");
  // Times of creation would make two recordings of the same traffic differ.
  h5::check(H5Pset_obj_track_times(properties.get(), false), "data set properties");
  return properties;
}

}  // namespace

ColumnWriter::ColumnWriter(hid_t file, const ColumnSpec& spec, Element element, int width,
                           int compression_level)
    : spec_(spec),
      element_(element),
      row_bytes_(size_of(element) * static_cast<std::size_t>(width)),
      type_(h5::file_type(element)) {
  const std::array<hsize_t, 2> none{0, static_cast<hsize_t>(width)};
  const std::array<hsize_t, 2> limit{H5S_UNLIMITED, static_cast<hsize_t>(width)};
  const h5::Dataspace space(
      h5::check(H5Screate_simple(spec.rank, none.data(), limit.data()), "data space"));
  const auto properties = creation_properties(spec, width, compression_level);
  dataset_ = h5::Dataset(h5::check(H5Dcreate2(file, spec.path().c_str(), type_.get(), space.get(),
                                              H5P_DEFAULT, properties.get(), H5P_DEFAULT),
                                   "create " + spec.path()));
}

void ColumnWriter::append(std::span<const std::byte> rows) {
  hash_.update(rows);
  buffer_.insert(buffer_.end(), rows.begin(), rows.end());
  const std::size_t chunk_rows = static_cast<std::size_t>(spec_.chunk_rows);
  const std::size_t chunks = buffer_.size() / (row_bytes_ * chunk_rows);
  if (chunks > 0) write_rows(chunks * chunk_rows);
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
  if (!buffer_.empty()) write_rows(buffer_.size() / row_bytes_);
}

void ColumnWriter::write_rows(std::size_t rows) {
  const std::string what = "write " + spec_.path();
  const hsize_t width = row_bytes_ / size_of(element_);
  const std::array<hsize_t, 2> size{static_cast<hsize_t>(rows_written_) + rows, width};
  const std::array<hsize_t, 2> start{static_cast<hsize_t>(rows_written_), 0};
  const std::array<hsize_t, 2> count{rows, width};
  h5::check(H5Dset_extent(dataset_.get(), size.data()), what);
  const h5::Dataspace in_file(h5::check(H5Dget_space(dataset_.get()), what));
  h5::check(H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                                nullptr),
            what);
  const h5::Dataspace in_memory(
      h5::check(H5Screate_simple(spec_.rank, count.data(), nullptr), what));
  h5::check(H5Dwrite(dataset_.get(), type_.get(), in_memory.get(), in_file.get(), H5P_DEFAULT,
                     buffer_.data()),
            what);
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(rows * row_bytes_));
  rows_written_ += static_cast<std::int64_t>(rows);
}

}  // namespace traffic::data
