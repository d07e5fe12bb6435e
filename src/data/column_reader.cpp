// ColumnReader: checks and reads one column of an HDF5 file (column_reader.h).
#include "column_reader.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

namespace traffic::data {
namespace {

/// Maximum size of an accepted chunk. It limits memory, because a reader thread holds several
/// decoded chunks.
constexpr std::uint64_t kMaxChunkBytes = 64ULL << 20;
/// The highest compression ratio that deflate can reach.
constexpr std::uint64_t kMaxCompression = 1032;
/// Rows of a contiguous data set are read and checked in pieces of this size.
constexpr std::uint64_t kPieceBytes = 1ULL << 20;

void check_hard_link(hid_t file, const std::string& path, const std::string& name) {
  const htri_t exists = H5Lexists(file, name.c_str(), H5P_DEFAULT);
  if (exists < 0) h5::fail(fmt::format("{}: cannot look up {}", path, name));
  if (exists == 0) throw DataError("{}: {} is missing; {}", path, name, kRemedy);
  H5L_info_t link{};
  h5::check(H5Lget_info(file, name.c_str(), &link, H5P_DEFAULT),
            fmt::format("{}: link {}", path, name));
  if (link.type != H5L_TYPE_HARD) {
    throw DataError(
        "{}: {} is a soft or external link, which is refused because it may point anywhere; "
        "expected an object of the file itself; {}",
        path, name, kRemedy);
  }
}

std::string_view filter_name(H5Z_filter_t id) {
  switch (id) {
    case H5Z_FILTER_SHUFFLE:
      return "shuffle";
    case H5Z_FILTER_DEFLATE:
      return "deflate";
    case H5Z_FILTER_FLETCHER32:
      return "fletcher32";
    case H5Z_FILTER_SZIP:
      return "szip";
    default:
      return "unknown";
  }
}

}  // namespace

ColumnReader::ColumnReader(hid_t file, const std::string& path, std::int64_t file_bytes,
                           const ColumnLayout& spec, int width)
    : path_(path), spec_(spec), width_(width), element_(spec.element) {
  check_hard_link(file, path, spec.group);
  check_hard_link(file, path, spec.path());
  dataset_ = h5::Dataset(H5Dopen2(file, spec.path().c_str(), H5P_DEFAULT));
  if (dataset_.get() < 0) h5::fail(where() + " cannot be opened");
  check_type();
  check_storage();
  check_shape(file_bytes);
  if (chunk_rows_ == 0) find_contiguous(file, file_bytes);
}

std::string ColumnReader::where() const {
  return fmt::format("{}: column {}", path_, spec_.path());
}

void ColumnReader::check_type() {
  const h5::Datatype type(h5::check(H5Dget_type(dataset_.get()), where()));
  const auto is = [&](Element element) {
    return H5Tequal(type.get(), h5::file_type(element).get()) > 0;
  };
  if (spec_.may_be_f16 && is(Element::kF16)) {
    element_ = Element::kF16;
  } else if (!is(spec_.element)) {
    const auto kind = H5Tget_class(type.get());
    throw DataError("{} has elements of {} bytes{}, expected {}{}; {}", where(),
                    H5Tget_size(type.get()),
                    kind == H5T_INTEGER ? " (integers)"
                    : kind == H5T_FLOAT ? " (floating point)"
                                        : " (neither integers nor floating point)",
                    to_string(spec_.element), spec_.may_be_f16 ? " or f16" : "", kRemedy);
  }
  row_bytes_ = size_of(element_) * static_cast<std::size_t>(width_);
}

void ColumnReader::check_storage() {
  const h5::Properties properties(h5::check(H5Dget_create_plist(dataset_.get()), where()));
  const H5D_layout_t layout = H5Pget_layout(properties.get());
  if (layout != H5D_CHUNKED && layout != H5D_CONTIGUOUS) {
    throw DataError("{} is stored neither in chunks nor contiguously; {}", where(), kRemedy);
  }
  if (H5Pget_external_count(properties.get()) != 0) {
    throw DataError("{} keeps its data in other files, which is refused; {}", where(), kRemedy);
  }
  if (layout == H5D_CONTIGUOUS) {
    chunk_rows_ = 0;
    return;
  }
  std::array<hsize_t, 2> chunk{0, 1};
  if (H5Pget_chunk(properties.get(), spec_.rank, chunk.data()) != spec_.rank || chunk[0] == 0 ||
      chunk[1] != static_cast<hsize_t>(width_) || chunk[0] > kMaxChunkBytes / row_bytes_) {
    throw DataError(
        "{} has chunks of {} x {} elements; expected whole rows of {} and at most {} "
        "MiB; {}",
        where(), chunk[0], chunk[1], width_, kMaxChunkBytes >> 20, kRemedy);
  }
  chunk_rows_ = static_cast<std::int64_t>(chunk[0]);
  read_filters(properties.get());
}

void ColumnReader::read_filters(hid_t properties) {
  constexpr std::array<H5Z_filter_t, 3> kOrder{H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE,
                                               H5Z_FILTER_FLETCHER32};
  const std::array<bool*, 3> present{&filters_.shuffle, &filters_.deflate, &filters_.fletcher32};
  const int count = h5::check(H5Pget_nfilters(properties), where());
  std::size_t next = 0;
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0;
    std::size_t num_values = 0;
    unsigned config = 0;
    const auto filter = H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &num_values,
                                       nullptr, 0, nullptr, &config);
    while (next < kOrder.size() && kOrder[next] != filter) ++next;
    if (next == kOrder.size()) {
      throw DataError(
          "{} uses the filter {} (id {}) as number {} of its filters; expected some of shuffle, "
          "deflate, fletcher32, in this order; {}",
          where(), filter_name(filter), filter, i + 1, kRemedy);
    }
    *present[next++] = true;
  }
}

void ColumnReader::check_shape(std::int64_t file_bytes) {
  const h5::Dataspace space(h5::check(H5Dget_space(dataset_.get()), where()));
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (rank != spec_.rank) {
    throw DataError("{} has {} dimensions, expected {}; {}", where(), rank, spec_.rank, kRemedy);
  }
  std::array<hsize_t, 2> size{0, 1};
  h5::check(H5Sget_simple_extent_dims(space.get(), size.data(), nullptr), where());
  if (spec_.rank == 2 && size[1] != static_cast<hsize_t>(width_)) {
    throw DataError("{} has {} elements in each row, expected {}; {}", where(), size[1], width_,
                    kRemedy);
  }
  const std::uint64_t most = static_cast<std::uint64_t>(file_bytes) * kMaxCompression / row_bytes_ +
                             static_cast<std::uint64_t>(chunk_rows_);
  if (size[0] > most) {
    throw DataError("{} claims {} rows, which a file of {} bytes cannot hold; {}", where(), size[0],
                    file_bytes, kRemedy);
  }
  rows_ = static_cast<std::int64_t>(size[0]);
}

void ColumnReader::find_contiguous(hid_t file, std::int64_t file_bytes) {
  const haddr_t begin = H5Dget_offset(dataset_.get());
  const std::int64_t bytes = rows_ * static_cast<std::int64_t>(row_bytes_);
  if (rows_ > 0 && (begin == HADDR_UNDEF || bytes > file_bytes ||
                    begin > static_cast<haddr_t>(file_bytes - bytes))) {
    throw DataError("{} has {} rows, but its {} bytes do not lie in the file; {}", where(), rows_,
                    bytes, kRemedy);
  }
  void* handle = nullptr;
  h5::check(H5Fget_vfd_handle(file, H5P_DEFAULT, &handle), where());
  descriptor_ = *static_cast<int*>(handle);
  begin_ = rows_ > 0 ? static_cast<std::int64_t>(begin) : 0;
  chunk_rows_ = std::max<std::int64_t>(
      1, std::min(rows_, static_cast<std::int64_t>(kPieceBytes / row_bytes_)));
}

std::int64_t ColumnReader::stored_bytes() const {
  h5::enter();
  return static_cast<std::int64_t>(H5Dget_storage_size(dataset_.get()));
}

void ColumnReader::read_chunk(std::int64_t chunk, std::span<std::byte> out) const {
  thread_local std::vector<std::byte> stored;
  thread_local ChunkScratch scratch;
  const auto here = [&] {
    return fmt::format("{}, rows {} to {} (chunk {})", where(), chunk * chunk_rows_,
                       std::min(rows_, (chunk + 1) * chunk_rows_) - 1, chunk);
  };
  const std::array<hsize_t, 2> offset{static_cast<hsize_t>(chunk * chunk_rows_), 0};
  hsize_t size = 0;
  if (H5Dget_chunk_storage_size(dataset_.get(), offset.data(), &size) < 0) h5::fail(here());
  if (size == 0 || size > out.size() + out.size() / 8 + 4096) {
    throw DataError("{}: {} bytes are stored for a chunk of {} bytes; {}", here(), size, out.size(),
                    kRemedy);
  }
  stored.resize(size);
  std::uint32_t skipped = 0;
  if (H5Dread_chunk(dataset_.get(), H5P_DEFAULT, offset.data(), &skipped, stored.data()) < 0) {
    h5::fail(here());
  }
  const auto problem = decode_chunk(stored, filters_, skipped, size_of(element_), scratch, out);
  if (!problem.empty()) throw DataError("{}: {}; {}", here(), problem, kRemedy);
}

void ColumnReader::read_contiguous(std::int64_t first, std::span<std::byte> out) const {
  std::int64_t at = begin_ + first * static_cast<std::int64_t>(row_bytes_);
  while (!out.empty()) {
    const ssize_t got = pread(descriptor_, out.data(), out.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      throw DataError("{}, row {}: {}; {}", where(), first,
                      got == 0 ? "the file ends there, it has been cut since it was opened"
                               : std::generic_category().message(errno),
                      kRemedy);
    }
    out = out.subspan(static_cast<std::size_t>(got));
    at += got;
  }
}

void ColumnReader::read(std::int64_t first, std::int64_t count, std::span<std::byte> out) const {
  TRAFFIC_CHECK(
      first >= 0 && count >= 0 && first + count <= rows_ &&
          out.size() == static_cast<std::size_t>(count) * row_bytes_,
      "{0}: cannot read {2} rows from row {1} on: the column has {3} rows, the buffer {4} bytes",
      where(), first, count, rows_, out.size());
  if (descriptor_ >= 0) {
    read_contiguous(first, out);
    return;
  }
  h5::enter();
  thread_local std::vector<std::byte> decoded;
  const std::int64_t end = first + count;
  const std::size_t chunk_bytes = static_cast<std::size_t>(chunk_rows_) * row_bytes_;
  for (std::int64_t row = first; row < end;) {
    const std::int64_t chunk = row / chunk_rows_;
    const std::int64_t chunk_first = chunk * chunk_rows_;
    const std::int64_t until = std::min(end, chunk_first + chunk_rows_);
    const std::size_t bytes = static_cast<std::size_t>(until - row) * row_bytes_;
    const std::span<std::byte> here =
        out.subspan(static_cast<std::size_t>(row - first) * row_bytes_, bytes);
    if (bytes == chunk_bytes) {
      read_chunk(chunk, here);
    } else {
      decoded.resize(chunk_bytes);
      read_chunk(chunk, decoded);
      std::memcpy(here.data(),
                  decoded.data() + static_cast<std::size_t>(row - chunk_first) * row_bytes_, bytes);
    }
    row = until;
  }
}

}  // namespace traffic::data
