/// Writes a data set file episode by episode.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "traffic/data/format.h"
#include "traffic/scene/frame.h"

namespace traffic::data {

struct WriterOptions {
  bool float16 = false;       ///< features as float16: about half the size, 3 decimal digits
  int compression_level = 1;  ///< of deflate, 1 to 9; 0: neither shuffle nor deflate
  int encoder_threads = 0;    ///< threads that compress; the file does not depend on their number
};

/// The facts of an episode that the writer cannot count itself.
struct EpisodeLabel {
  std::uint64_t seed = 0;
  Split split = Split::kTrain;
  double demand_scale = 1.0;
  std::uint8_t controller = 0;  ///< index into FileInfo::controller_names
};

/// Appends episodes to a new file in bounded memory (some chunks per column and encoder thread).
/// The file appears under its name with finish(); until then it is a temporary file in the same
/// folder, which the destructor removes. Not thread-safe.
class DatasetWriter {
 public:
  /// @throws ResourceError if the folder cannot be written or is nearly full; DataError if the
  /// options or the info contradict the format
  DatasetWriter(const std::filesystem::path& path, FileInfo info, const WriterOptions& options);
  ~DatasetWriter();
  DatasetWriter(const DatasetWriter&) = delete;
  DatasetWriter& operator=(const DatasetWriter&) = delete;

  void begin_episode(const EpisodeLabel& label);
  /// Replaces the seed of the open episode, where it is known only after its frames.
  void set_seed(std::uint64_t seed);
  /// Appends a frame to the open episode.
  /// @throws DataError if the frame is inconsistent, has a value that is not finite, or one that
  /// float16 cannot hold; ResourceError if the disk is full
  void append(const scene::GraphFrame& frame);
  /// @throws DataError if the episode has no frame
  void end_episode();
  /// Makes the file durable under its name. It must be the last call.
  /// @throws DataError if there is no episode or one is open; ResourceError
  void finish();

  /// Marks node and global features that the source turned out not to contain. Their columns must
  /// have been zero throughout. Call it before finish().
  void mark_missing(std::span<const std::string_view> names);

  [[nodiscard]] std::int64_t num_episodes() const;
  [[nodiscard]] std::int64_t num_frames() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace traffic::data
