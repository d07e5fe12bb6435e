/// The file of recorded scenes, version 1: maps and episodes from which a driving policy learns, in
/// one HDF5 file. docs/reference/scene-format.md describes it for readers in other languages.
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

/// The format of a data set file: kFormatName, kSceneFormatName, or what another program wrote.
/// @throws DataError if the file cannot be read or is no data set
[[nodiscard]] std::string format_of(const std::string& path);

/// The content of the root attributes.
struct SceneFileInfo {
  std::string scenario;
  std::string source;           ///< "SUMO 1.28.0", "highD", ...
  std::string program_version;  ///< of the program that wrote the file
  std::string command_line;
  std::string created_utc;
  std::string splitting;           ///< the rule by which episodes got their split
  std::uint64_t content_hash = 0;  ///< XXH3 over all columns; set by SceneWriter::finish
};

struct SceneWriterOptions {
  int compression_level = 1;  ///< of deflate, 1 to 9; 0: neither shuffle nor deflate
  int encoder_threads = 0;    ///< threads that compress; the file does not depend on their number
};

/// The facts of an episode that its scene does not have.
struct SceneLabel {
  Split split = Split::kTrain;
  double demand_scale = 1.0;
};

/// Writes a new file scene by scene. The file appears under its name with finish(); until then it
/// is a temporary file in the same folder, which the destructor removes. Not thread-safe.
class SceneWriter {
 public:
  /// @throws ResourceError if the folder cannot be written or is nearly full; DataError for invalid
  /// options
  SceneWriter(const std::filesystem::path& path, SceneFileInfo info,
              const SceneWriterOptions& options = {});
  ~SceneWriter();
  SceneWriter(const SceneWriter&) = delete;
  SceneWriter& operator=(const SceneWriter&) = delete;

  /// Appends an episode. Scenes that share a map object share it in the file, too.
  /// @throws DataError if the scene or its map is inconsistent; ResourceError if the disk is full
  void add(const driving::RecordedScene& scene, const SceneLabel& label);
  /// Makes the file durable under its name. It must be the last call.
  /// @throws DataError if there is no episode; ResourceError
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// One row of episodes/.
struct SceneEpisode {
  std::uint64_t seed = 0;
  Split split = Split::kTrain;
  double demand_scale = 1.0;
  std::int32_t map = 0;  ///< index into SceneReader::maps()
  std::int64_t first_frame = 0;
  std::int64_t num_frames = 0;
  std::int64_t num_vehicles = 0;
  std::int64_t num_nodes = 0;  ///< summed over its frames: vehicles in the frame
};

/// The storage of a column in the file.
struct SceneColumn {
  std::string path;  ///< "nodes/xy_m"
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
  /// @throws DataError, ResourceError
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

  /// @throws DataError for damaged chunks, dangling indices, numbers out of bounds
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
