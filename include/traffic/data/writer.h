/// DatasetWriter writes a data set file (format.h) episode by episode. data_prep uses it.
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
  int compression_level = 1;  ///< deflate level, 1 to 9; 0 means no compression
  int encoder_threads = 0;    ///< number of threads that compress; 0 means the caller's thread
};

/// Properties of an episode that its frames do not contain.
struct EpisodeLabel {
  std::uint64_t seed = 0;
  Split split = Split::kTrain;
  double demand_scale = 1.0;
  std::uint8_t controller = 0;  ///< index into FileInfo::controller_names
};

/// Appends episodes to a new file. Keeps only a few chunks of each column in memory. Writes to a
/// temporary file in the same folder first. finish() renames the temporary file; without finish()
/// the destructor removes it. The content does not depend on the number of threads. Not
/// thread-safe.
class DatasetWriter {
 public:
  /// @throws ResourceError if the folder cannot be written to or the disk is nearly full
  /// @throws DataError if the options or the info contradict the format
  DatasetWriter(const std::filesystem::path& path, FileInfo info, const WriterOptions& options);
  ~DatasetWriter();
  DatasetWriter(const DatasetWriter&) = delete;
  DatasetWriter& operator=(const DatasetWriter&) = delete;

  void begin_episode(const EpisodeLabel& label);
  /// Replaces the seed of the open episode. Recordings without a seed get a hash of their frames,
  /// which is known only after the last frame.
  void set_seed(std::uint64_t seed);
  /// Appends a frame to the open episode.
  /// @throws DataError if the frame is inconsistent, or has a value that is not finite or too large
  ///   for float16
  /// @throws ResourceError if the disk is full
  void append(const scene::GraphFrame& frame);
  /// @throws DataError if the episode has no frame
  void end_episode();
  /// Writes what is still in memory and gives the file its name. It must be the last call.
  /// @throws DataError if there is no episode or an episode is open
  /// @throws ResourceError if the file cannot be written
  void finish();

  /// Marks node and global features that the recording did not contain. These features must be zero
  /// in all frames. Call it before finish().
  void mark_missing(std::span<const std::string_view> names);

  [[nodiscard]] std::int64_t num_episodes() const;
  [[nodiscard]] std::int64_t num_frames() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace traffic::data
