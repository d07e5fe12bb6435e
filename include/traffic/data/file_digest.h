/// Computes digests of data set files (origins of the episodes and hashes of all frames) and
/// compares them. data_prep uses them to find duplicate episodes, and episodes that are in two
/// splits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "traffic/data/reader.h"
#include "traffic/data/scene_file.h"

namespace traffic::data {

/// Origin of an episode, and hashes of its frames.
struct EpisodeDigest {
  std::uint64_t seed = 0;
  double demand_scale = 1.0;
  Split split = Split::kTrain;
  /// [frames] hash of each frame's content. 0 for a frame with too few vehicles for a comparison:
  /// the nearly empty first frames of many episodes are equal.
  std::vector<std::uint64_t> frames;
};

struct FileDigest {
  std::string path;
  std::string scenario;
  std::string format;  ///< kFormatName or kSceneFormatName
  std::vector<EpisodeDigest> episodes;
};

/// Reads all frames of a file.
/// @param progress called after each read with the number of frames that were read
/// @throws DataError if the file is damaged
[[nodiscard]] FileDigest digest_file(const DatasetReader& file,
                                     const std::function<void(std::int64_t frames)>& progress);
[[nodiscard]] FileDigest digest_file(const SceneReader& file,
                                     const std::function<void(std::int64_t frames)>& progress);

/// Identifies an episode of one of several files.
struct EpisodePlace {
  std::size_t file = 0;
  std::size_t episode = 0;
  auto operator<=>(const EpisodePlace&) const = default;
};

/// The frames that two episodes have in common. "Later" and "earlier" mean the order in which they
/// were added to a FrameIndex.
struct SharedFrames {
  std::int64_t first_here = 0;   ///< number of the first shared frame in the later episode
  std::int64_t first_there = 0;  ///< number of the same frame in the earlier episode
  std::int64_t count = 0;        ///< number of shared frames
};

/// Finds frames with the same content while episodes are added.
class FrameIndex {
 public:
  /// Returns the frames that the episode shares with episodes that were added before. Adds its
  /// frames to the index if `keep` is true.
  std::map<EpisodePlace, SharedFrames> add(EpisodePlace place, const EpisodeDigest& episode,
                                           bool keep = true);

 private:
  std::unordered_map<std::uint64_t, std::pair<EpisodePlace, std::int64_t>> seen_;
};

/// Finds episodes with the same scenario, seed and demand in two splits, and frames with the same
/// content in two episodes. In the first case the results on the test split would be too good.
/// @return a message for each of the first 20 findings, and the number of further findings
[[nodiscard]] std::vector<std::string> find_leaks(std::span<const FileDigest> files);

}  // namespace traffic::data
