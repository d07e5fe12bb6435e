/// Dataset numbers the samples of one split (train, validation or test) of recorded traffic, and
/// finds their place in one or several files. The sampler and the batch builder use it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "traffic/config/config.h"
#include "traffic/data/format.h"
#include "traffic/data/reader.h"
#include "traffic/data/samples.h"
#include "traffic/data/windows.h"

namespace traffic::data {

/// Where a sample lies. Its anchor is the last frame that the model sees. Its crop is a group of
/// neighbouring vehicles in the anchor frame (windows.h).
struct SampleLocation {
  std::int32_t block = 0;         ///< index into Dataset::blocks()
  std::int64_t anchor_frame = 0;  ///< number of the frame in the block's file
  std::int64_t crop = 0;          ///< number of the crop in the anchor frame, from 0
};

/// The frames that a block holds: consecutive frames of one episode. For each sample of the block
/// they include its anchor, the history before the anchor and the horizon after it.
struct BlockRange {
  std::int32_t file = 0;     ///< number of the file in the data set
  std::int32_t episode = 0;  ///< number of the episode in the file
  std::int64_t first_frame = 0;
  std::int64_t num_frames = 0;
};

/// All samples of one split. Immutable after construction and thread-safe.
class Dataset final : public SampleIndex {
 public:
  /// @throws DataError if there is no file; if the files have different frame intervals; if the
  ///   features of a file are not those of this program; if a file has no positions or speeds
  /// @throws ConfigError if the options are out of range
  Dataset(std::vector<std::shared_ptr<const DatasetReader>> files, Split split,
          const WindowOptions& options);

  /// @param sample 0 .. num_samples() - 1, in the order of file, episode, anchor, crop
  [[nodiscard]] SampleLocation locate(std::int64_t sample) const;
  [[nodiscard]] std::span<const SampleBlock> blocks() const override { return blocks_; }
  /// (c + 0.5) / n, where c is the number of the sample's crop and n the number of crops of its
  /// frame. Crops with near numbers are near each other on the road.
  [[nodiscard]] double region(std::int64_t sample) const override;
  [[nodiscard]] const BlockRange& range(std::int32_t block) const {
    return ranges_[static_cast<std::size_t>(block)];
  }
  [[nodiscard]] const DatasetReader& file(std::int32_t index) const {
    return *files_[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] std::int64_t num_files() const { return static_cast<std::int64_t>(files_.size()); }
  [[nodiscard]] Split split() const { return split_; }
  [[nodiscard]] const WindowOptions& options() const { return options_; }
  /// Attributes of the first file. All files have the same feature names, units and frame interval.
  /// A feature is present if it is present in all files.
  [[nodiscard]] const FileInfo& info() const { return info_; }
  /// Hash of the contents of the files, the split and the window options.
  [[nodiscard]] std::uint64_t fingerprint() const override { return fingerprint_; }
  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::string advice_when_empty() const override;

 private:
  void add_episode(std::int32_t file, std::int32_t episode);
  /// Returns how many samples an anchor with `crops` crops contributes. This is `crops`, or 0 if
  /// the anchor must be left out because of max_samples.
  std::int64_t take_anchor(std::int64_t crops);
  [[nodiscard]] std::int64_t count_samples() const;
  void compute_fingerprint();

  std::vector<std::shared_ptr<const DatasetReader>> files_;
  FileInfo info_;
  Split split_;
  WindowOptions options_;
  std::vector<SampleBlock> blocks_;
  std::vector<BlockRange> ranges_;  ///< [blocks]
  /// [anchors + 1] number of the first sample of each anchor, then the number of samples.
  std::vector<std::int64_t> anchor_first_sample_{0};
  std::vector<std::int64_t> anchor_frame_;  ///< [anchors] number of the frame in its file
  /// Number of samples that the split has without max_samples. Not counted (0) if max_samples is 0.
  std::int64_t all_samples_ = 0;
  std::int64_t seen_samples_ = 0;  ///< samples seen so far while the index is built
  std::uint64_t fingerprint_ = 0;
};

/// The window options of a configuration.
[[nodiscard]] WindowOptions window_options(const config::Data& data);

/// Result of open_data_files().
struct OpenedFiles {
  std::vector<std::shared_ptr<const DatasetReader>> files;
  std::vector<std::string> skipped;  ///< one error message for each unreadable file
};
/// Opens the files that data.files names. Skips unreadable files if their share is at most
/// data.max_bad_file_share. The caller logs skipped files, and compares the fingerprints of the
/// data set on all ranks, because ranks may have skipped different files.
/// @throws DataError if too many files are unreadable
[[nodiscard]] OpenedFiles open_data_files(const config::Data& data);

}  // namespace traffic::data
