/// DatasetReader reads a data set file (format.h). The constructor checks the whole schema. Later
/// reads verify checksums and reject indices that are out of range and values that are not finite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "traffic/data/format.h"
#include "traffic/os/page_allocator.h"
#include "traffic/scene/frame.h"

namespace traffic::data {

/// Consecutive frames of a file, decoded, in physical units. The frames together have n nodes and e
/// edges.
struct PackedFrames {
  std::int64_t first_frame = 0;           ///< number of the first frame in the file
  std::vector<std::int32_t> node_ptr;     ///< [frames + 1]
  std::vector<std::int32_t> edge_ptr;     ///< [n + 1] edges edge_ptr[i] to edge_ptr[i + 1] - 1
                                          ///< lead to node i
  std::vector<std::uint32_t> vehicle_id;  ///< [n] unique within a frame
  os::PageVector<float> node_features;    ///< [n, F]
  std::vector<float> position_m;          ///< [n]
  std::vector<float> xy_m;                ///< [n, 2]
  std::vector<std::int32_t> edge_src;     ///< [e] start of the edge: number of a node in its frame
  os::PageVector<float> edge_features;    ///< [e, 4]

  [[nodiscard]] std::int64_t num_frames() const {
    return static_cast<std::int64_t>(node_ptr.size()) - 1;
  }
};

/// The storage of a column in the file.
struct ColumnStorage {
  std::int64_t rows = 0;
  std::int64_t row_bytes = 0;
  std::int64_t chunk_rows = 0;
  std::int64_t num_chunks = 0;
  std::int64_t stored_bytes = 0;
  bool shuffle = false;
  bool deflate = false;
  bool fletcher32 = false;
};

/// An open file. All const functions are thread-safe. Every DataError names the file, the column,
/// the found and the expected content, and a remedy.
class DatasetReader {
 public:
  /// @throws DataError if the file is missing, damaged or has another format
  /// @throws ResourceError if the system cannot open the file
  explicit DatasetReader(std::string path);
  ~DatasetReader();
  DatasetReader(const DatasetReader&) = delete;
  DatasetReader& operator=(const DatasetReader&) = delete;

  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] std::int64_t file_bytes() const;
  [[nodiscard]] const FileInfo& info() const;
  [[nodiscard]] std::span<const Episode> episodes() const;
  [[nodiscard]] std::int64_t num_frames() const;
  [[nodiscard]] std::int64_t num_nodes() const;
  [[nodiscard]] std::int64_t num_edges() const;
  [[nodiscard]] std::span<const std::int64_t> node_ptr() const;  ///< [T + 1]
  [[nodiscard]] std::span<const std::int64_t> edge_ptr() const;  ///< [T + 1]

  /// How many of the frames first to end - 1 a caller should decode in one call of read_frames().
  /// It is at least 1 and at most 64; together the frames have at most 32 MiB.
  [[nodiscard]] std::int64_t frames_at_once(std::int64_t first, std::int64_t end) const;
  /// @throws DataError for damaged chunks, indices out of range, and values that are not finite
  [[nodiscard]] PackedFrames read_frames(std::int64_t first_frame, std::int64_t count) const;
  [[nodiscard]] std::vector<double> read_times(std::int64_t first_frame, std::int64_t count) const;
  /// Reads one frame as it was passed to the writer, except for the rounding of float16.
  [[nodiscard]] scene::GraphFrame read_graph_frame(std::int64_t frame) const;

  /// Reads rows of a column in the element type of the file. It verifies the checksums but not the
  /// values.
  void read_raw(Column column, std::int64_t first, std::int64_t count,
                std::span<std::byte> out) const;
  [[nodiscard]] ColumnStorage storage(Column column) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Finds the files that match the patterns, which are paths or globs. The files are in the order of
/// the patterns, and sorted by name within a pattern.
/// @throws DataError if a pattern matches nothing
[[nodiscard]] std::vector<std::string> find_data_files(std::span<const std::string> patterns);

}  // namespace traffic::data
