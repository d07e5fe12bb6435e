// DatasetReader: opens a data set file, checks its structure and reads its tables.
// packed_frames.cpp reads the frames.
#include "traffic/data/reader.h"

#include <glob.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "attributes.h"
#include "reader_impl.h"
#include "traffic/core/text.h"

namespace traffic::data {
namespace {

/// Limits of accepted files. Real traffic does not exceed them, but numbers in a damaged file may.
constexpr std::int64_t kMaxVehiclesPerFrame = 1 << 20;
constexpr std::int64_t kMaxEdgesPerFrame = 1 << 24;
constexpr std::int64_t kMaxFrames = 1LL << 28;
/// Limit of the memory for node_ptr and edge_ptr: a fixed amount plus a multiple of the file size.
/// An undamaged file does not exceed it, because a frame takes more space in the file than in these
/// tables.
constexpr std::int64_t kTableBytes = 64LL << 20;
constexpr std::int64_t kTableBytesPerByte = 8;
/// Maximum size and number of the frames that frames_at_once() proposes to read together.
constexpr std::int64_t kBytesAtOnce = 32LL << 20;
constexpr std::int64_t kMostFramesAtOnce = 64;

template <typename T>
std::vector<T> read_all(const ColumnReader& column) {
  std::vector<T> values(static_cast<std::size_t>(column.rows()));
  column.read_values<T>(0, column.rows(), values);
  return values;
}

void check_rows(const ColumnReader& column, std::int64_t expected) {
  if (column.rows() != expected) {
    throw DataError("{} has {} rows, expected {}; {}", column.where(), column.rows(), expected,
                    kRemedy);
  }
}

/// Checks frames/node_ptr or frames/edge_ptr. The column must begin with 0, end with `rows`, the
/// number of nodes or edges in the file, and rise by at most `most` per frame.
void check_ptr(const ColumnReader& column, std::span<const std::int64_t> ptr, std::int64_t rows,
               std::int64_t most) {
  if (ptr.front() != 0 || ptr.back() != rows) {
    throw DataError("{} runs from {} to {}, expected 0 to {}; {}", column.where(), ptr.front(),
                    ptr.back(), rows, kRemedy);
  }
  for (std::size_t i = 1; i < ptr.size(); ++i) {
    if (ptr[i] < ptr[i - 1] || ptr[i] - ptr[i - 1] > most) {
      throw DataError("{}: frame {} has {} to {}; expected pointers that rise by at most {}; {}",
                      column.where(), i - 1, ptr[i - 1], ptr[i], most, kRemedy);
    }
  }
}

}  // namespace

DatasetReader::Impl::Impl(std::string file_path)
    : path(std::move(file_path)),
      file(open_data_file(path)),
      info(read_attributes(file.get(), path)) {
  file_bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
  num_features = info.node_features.size();
  position_column = static_cast<std::size_t>(feature_index(info.node_features, kPositionFeature));
  columns.reserve(kNumColumns);
  for (const ColumnSpec& spec : column_specs()) {
    const int width = spec.width > 0 ? spec.width : static_cast<int>(num_features);
    columns.emplace_back(file.get(), path, file_bytes, spec, width);
  }
  info.float16 = column(Column::kNodeFeatures).element() == Element::kF16;
  check_sizes();
  node_ptr = read_all<std::int64_t>(column(Column::kFrameNodePtr));
  edge_ptr = read_all<std::int64_t>(column(Column::kFrameEdgePtr));
  check_ptr(column(Column::kFrameNodePtr), node_ptr, column(Column::kNodeFeatures).rows(),
            kMaxVehiclesPerFrame);
  check_ptr(column(Column::kFrameEdgePtr), edge_ptr, column(Column::kEdgeFeatures).rows(),
            kMaxEdgesPerFrame);
  read_episodes();
}

void DatasetReader::Impl::check_sizes() const {
  const std::int64_t frames = column(Column::kFrameTime).rows();
  if (frames < 1 || frames > kMaxFrames) {
    throw DataError("{} has {} rows, expected 1 to {}; {}", column(Column::kFrameTime).where(),
                    frames, kMaxFrames, kRemedy);
  }
  const auto table_bytes = static_cast<std::int64_t>(sizeof(std::int64_t)) * 2 * (frames + 1);
  if (table_bytes > kTableBytes + kTableBytesPerByte * file_bytes) {
    throw DataError(
        "{}: the tables of its {} frames take {} of memory, too much for a file of {}; {}", path,
        frames, human_bytes(table_bytes), human_bytes(file_bytes), kRemedy);
  }
  if (column(Column::kEpisodeSeed).rows() > frames) {
    throw DataError("{} has {} rows, more than there are frames ({}); {}",
                    column(Column::kEpisodeSeed).where(), column(Column::kEpisodeSeed).rows(),
                    frames, kRemedy);
  }
  for (const ColumnSpec& spec : column_specs()) {
    switch (spec.rows) {
      case Rows::kEpisodes:
        check_rows(column(spec.column), column(Column::kEpisodeSeed).rows());
        break;
      case Rows::kFrames:
        check_rows(column(spec.column), frames);
        break;
      case Rows::kFramePtr:
        check_rows(column(spec.column), frames + 1);
        break;
      case Rows::kNodes:
        check_rows(column(spec.column), column(Column::kNodeFeatures).rows());
        break;
      case Rows::kEdges:
        check_rows(column(spec.column), column(Column::kEdgeFeatures).rows());
        break;
    }
  }
}

void DatasetReader::Impl::read_episodes() {
  const auto seed = read_all<std::uint64_t>(column(Column::kEpisodeSeed));
  const auto first = read_all<std::int64_t>(column(Column::kEpisodeFirstFrame));
  const auto frames = read_all<std::int64_t>(column(Column::kEpisodeNumFrames));
  const auto split = read_all<std::uint8_t>(column(Column::kEpisodeSplit));
  const auto demand = read_all<double>(column(Column::kEpisodeDemandScale));
  const auto controller = read_all<std::uint8_t>(column(Column::kEpisodeController));
  const std::int64_t all_frames = column(Column::kFrameTime).rows();
  std::int64_t next = 0;
  for (std::size_t i = 0; i < seed.size(); ++i) {
    if (first[i] != next || frames[i] < 1 || frames[i] > all_frames - next) {
      throw DataError(
          "{}: episode {} has {} frames from frame {} on; expected it to begin at frame {} and "
          "to end at frame {} at the latest; {}",
          path, i, frames[i], first[i], next, all_frames, kRemedy);
    }
    if (split[i] >= kNumSplits) {
      throw DataError(
          "{}: episode {} has split {}, expected 0 (train), 1 (validation) or 2 "
          "(test); {}",
          path, i, split[i], kRemedy);
    }
    if (controller[i] >= info.controller_names.size() || !std::isfinite(demand[i])) {
      throw DataError(
          "{}: episode {} has controller {} (expected: less than {}) and demand scale {} "
          "(expected: a finite number); {}",
          path, i, controller[i], info.controller_names.size(), demand[i], kRemedy);
    }
    episodes.push_back(
        {seed[i], first[i], frames[i], static_cast<Split>(split[i]), demand[i], controller[i]});
    next += frames[i];
  }
  if (next != all_frames) {
    throw DataError("{}: the episodes have {} frames in all, but the file has {}; {}", path, next,
                    all_frames, kRemedy);
  }
}

DatasetReader::DatasetReader(std::string path) : impl_(std::make_unique<Impl>(std::move(path))) {}
DatasetReader::~DatasetReader() = default;

const std::string& DatasetReader::path() const { return impl_->path; }
std::int64_t DatasetReader::file_bytes() const { return impl_->file_bytes; }
const FileInfo& DatasetReader::info() const { return impl_->info; }
std::span<const Episode> DatasetReader::episodes() const { return impl_->episodes; }
std::int64_t DatasetReader::num_frames() const {
  return static_cast<std::int64_t>(impl_->node_ptr.size()) - 1;
}
std::int64_t DatasetReader::num_nodes() const { return impl_->node_ptr.back(); }
std::int64_t DatasetReader::num_edges() const { return impl_->edge_ptr.back(); }
std::span<const std::int64_t> DatasetReader::node_ptr() const { return impl_->node_ptr; }
std::span<const std::int64_t> DatasetReader::edge_ptr() const { return impl_->edge_ptr; }

std::int64_t DatasetReader::frames_at_once(std::int64_t first, std::int64_t end) const {
  const auto node_bytes = static_cast<std::int64_t>(sizeof(float) * (impl_->num_features + 6));
  constexpr auto kEdgeBytes = static_cast<std::int64_t>(sizeof(float) * (kNumEdgeFeatures + 1));
  const auto bytes_until = [&](std::int64_t frame) {
    const auto a = static_cast<std::size_t>(first);
    const auto b = static_cast<std::size_t>(frame);
    return (impl_->node_ptr[b] - impl_->node_ptr[a]) * node_bytes +
           (impl_->edge_ptr[b] - impl_->edge_ptr[a]) * kEdgeBytes;
  };
  std::int64_t count = 1;
  while (count < kMostFramesAtOnce && first + count < end &&
         bytes_until(first + count + 1) <= kBytesAtOnce) {
    ++count;
  }
  return count;
}

void DatasetReader::read_raw(Column column, std::int64_t first, std::int64_t count,
                             std::span<std::byte> out) const {
  impl_->column(column).read(first, count, out);
}

ColumnStorage DatasetReader::storage(Column column) const {
  const ColumnReader& from = impl_->column(column);
  return {.rows = from.rows(),
          .row_bytes = static_cast<std::int64_t>(from.row_bytes()),
          .chunk_rows = from.chunk_rows(),
          .num_chunks = from.num_chunks(),
          .stored_bytes = from.stored_bytes(),
          .shuffle = from.filters().shuffle,
          .deflate = from.filters().deflate,
          .fletcher32 = from.filters().fletcher32};
}

std::vector<std::string> find_data_files(std::span<const std::string> patterns) {
  if (patterns.empty()) throw DataError("data.files is empty; name at least one data set file");
  std::vector<std::string> files;
  for (const auto& pattern : patterns) {
    glob_t found{};
    const int rc = ::glob(pattern.c_str(), 0, nullptr, &found);
    for (std::size_t i = 0; rc == 0 && i < found.gl_pathc; ++i) {
      files.emplace_back(found.gl_pathv[i]);
    }
    ::globfree(&found);
    if (rc != 0) {
      throw DataError("no file matches '{}'; check data.files or make one with data_prep record",
                      pattern);
    }
  }
  return files;
}

}  // namespace traffic::data
