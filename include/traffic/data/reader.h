/// Reads a data set file. The constructor checks the whole schema; later reads check checksums and
/// look for dangling indices and NaN.
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

/// Consecutive frames of a file, decoded, in physical units. n nodes and e edges of all these
/// frames together.
struct PackedFrames {
  std::int64_t first_frame = 0;           ///< row of frames/
  std::vector<std::int32_t> node_ptr;     ///< [frames + 1]
  std::vector<std::int32_t> edge_ptr;     ///< [n + 1]: in-edges of a node
  std::vector<std::uint32_t> vehicle_id;  ///< [n] unique within a frame
  os::PageVector<float> node_features;    ///< [n, F]
  std::vector<float> position_m;          ///< [n]
  std::vector<float> xy_m;                ///< [n, 2]
  std::vector<std::int32_t> edge_src;     ///< [e] node within its frame
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
  /// @throws DataError, ResourceError
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

  /// How many frames from `first` on, before `end`, to decode together: at most 64 and at most 32
  /// MiB, but at least one.
  [[nodiscard]] std::int64_t frames_at_once(std::int64_t first, std::int64_t end) const;
  /// @throws DataError for damaged chunks, dangling indices, values that are not finite
  [[nodiscard]] PackedFrames read_frames(std::int64_t first_frame, std::int64_t count) const;
  [[nodiscard]] std::vector<double> read_times(std::int64_t first_frame, std::int64_t count) const;
  /// Reads one frame as it was passed to the writer, except for the rounding of float16.
  [[nodiscard]] scene::GraphFrame read_graph_frame(std::int64_t frame) const;

  /// Reads rows of a column as the file has them; checks the checksums only.
  void read_raw(Column column, std::int64_t first, std::int64_t count,
                std::span<std::byte> out) const;
  [[nodiscard]] ColumnStorage storage(Column column) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Finds the files that the patterns (paths or globs) match, sorted within each pattern.
/// @throws DataError if a pattern matches nothing
[[nodiscard]] std::vector<std::string> find_data_files(std::span<const std::string> patterns);

}  // namespace traffic::data
