/// SceneWriter and SceneReader write and read files of recorded scenes, version 1. Such an HDF5
/// file contains road maps and episodes from which a driving policy learns.
/// docs/reference/scene-format.md describes the format for readers in other languages.
///
///     void print_lengths(const std::string& path) {
///       const data::SceneReader file(path);
///       for (std::size_t i = 0; i < file.episodes().size(); ++i) {
///         const driving::RecordedScene scene = file.read(i);
///         fmt::print("{}: {} frames\n", scene.map->name, scene.num_frames());
///       }
///     }
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/data/format.h"
#include "traffic/driving/recorded_scene.h"

namespace traffic::data {

inline constexpr std::string_view kSceneFormatName = "traffic-scenes";
inline constexpr std::int64_t kSceneFormatVersion = 1;

/// The attribute "format" of a file: kFormatName, kSceneFormatName, or the text of another program.
/// @throws DataError if the file cannot be read or has no such attribute
[[nodiscard]] std::string format_of(const std::string& path);

/// The content of the root attributes.
struct SceneFileInfo {
  std::string scenario;
  std::string source;           ///< where the scenes come from, e.g. "SUMO 1.28.0" or "highD"
  std::string program_version;  ///< version of the program that wrote the file
  std::string command_line;
  std::string created_utc;
  std::string splitting;           ///< the rule by which episodes got their split
  std::uint64_t content_hash = 0;  ///< XXH3 over all columns; set by SceneWriter::finish
};

struct SceneWriterOptions {
  int compression_level = 1;  ///< deflate level, 1 to 9; 0 means no compression
  int encoder_threads = 0;    ///< number of threads that compress; 0 means the caller's thread
};

/// Properties of an episode that a RecordedScene does not contain.
struct SceneLabel {
  Split split = Split::kTrain;
  double demand_scale = 1.0;
};

/// Writes a new file scene by scene, first to a temporary file in the same folder. finish() renames
/// the temporary file; without finish() the destructor removes it. Not thread-safe.
class SceneWriter {
 public:
  /// @throws ResourceError if the folder cannot be written to or the disk is nearly full
  /// @throws DataError for invalid options
  SceneWriter(const std::filesystem::path& path, SceneFileInfo info,
              const SceneWriterOptions& options = {});
  ~SceneWriter();
  SceneWriter(const SceneWriter&) = delete;
  SceneWriter& operator=(const SceneWriter&) = delete;

  /// Appends an episode. Scenes that share a map object share one map in the file.
  /// @throws DataError if the scene or its map is inconsistent; ResourceError if the disk is full
  void add(const driving::RecordedScene& scene, const SceneLabel& label);
  /// Writes what is still in memory and gives the file its name. It must be the last call.
  /// @throws DataError if there is no episode
  /// @throws ResourceError if the file cannot be written
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// One row of the columns episodes/*.
struct SceneEpisode {
  std::uint64_t seed = 0;
  Split split = Split::kTrain;
  double demand_scale = 1.0;
  std::int32_t map = 0;  ///< index into SceneReader::maps()
  std::int64_t first_frame = 0;
  std::int64_t num_frames = 0;
  std::int64_t num_vehicles = 0;
  std::int64_t num_nodes = 0;  ///< a node is a vehicle in a frame
};

/// The storage of a column in the file.
struct SceneColumn {
  std::string path;  ///< group and name, e.g. "nodes/xy_m"
  std::int64_t rows = 0;
  std::int64_t row_bytes = 0;
  std::int64_t num_chunks = 0;
  std::int64_t stored_bytes = 0;
};

/// An open file. The constructor checks the schema, all tables and the maps; read() checks the
/// episode. Every DataError names the file, the found and the expected content, and a remedy. All
/// const functions are thread-safe.
class SceneReader {
 public:
  /// @throws DataError if the file is missing, damaged or has another format
  /// @throws ResourceError if the system cannot open the file
  explicit SceneReader(std::string path);
  ~SceneReader();
  SceneReader(const SceneReader&) = delete;
  SceneReader& operator=(const SceneReader&) = delete;

  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] std::int64_t file_bytes() const;
  [[nodiscard]] const SceneFileInfo& info() const;
  [[nodiscard]] std::span<const std::shared_ptr<const driving::RoadMap>> maps() const;
  [[nodiscard]] std::span<const SceneEpisode> episodes() const;
  [[nodiscard]] std::int64_t num_frames() const;
  [[nodiscard]] std::int64_t num_nodes() const;

  /// Reads one episode.
  /// @throws DataError for damaged chunks, indices out of range, and values out of bounds
  [[nodiscard]] driving::RecordedScene read(std::size_t episode) const;

  [[nodiscard]] std::vector<SceneColumn> columns() const;
  /// Decodes every chunk and computes the hash of the content.
  /// @throws DataError for a damaged chunk
  [[nodiscard]] std::uint64_t compute_content_hash() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace traffic::data
