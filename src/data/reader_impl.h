/// DatasetReader::Impl: the state of an open data set file. reader.cpp and packed_frames.cpp, which
/// implement DatasetReader, share it.
#pragma once

#include <string>
#include <vector>

#include "column_reader.h"
#include "hdf5_handle.h"
#include "traffic/data/reader.h"

namespace traffic::data {

struct DatasetReader::Impl {
  explicit Impl(std::string file_path);

  [[nodiscard]] const ColumnReader& column(Column name) const {
    return columns[static_cast<std::size_t>(name)];
  }
  void check_sizes() const;
  void read_episodes();
  void read_features(Column name, std::int64_t first, std::int64_t count,
                     os::PageVector<float>& out) const;
  void read_edges(std::int64_t first_frame, PackedFrames& out) const;

  std::string path;
  std::int64_t file_bytes;
  h5::File file;
  FileInfo info;
  std::vector<ColumnReader> columns;
  std::vector<Episode> episodes;
  std::vector<std::int64_t> node_ptr;  ///< frame f has the nodes node_ptr[f] to node_ptr[f + 1] - 1
  std::vector<std::int64_t> edge_ptr;  ///< frame f has the edges edge_ptr[f] to edge_ptr[f + 1] - 1
  std::size_t num_features = 0;
  std::size_t position_column = 0;  ///< column of the position in the node features
};

}  // namespace traffic::data
