/// Digests of data sets for comparing them: the origins of the episodes and hashes of their frames.
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

struct EpisodeDigest {
  std::uint64_t seed = 0;
  double demand_scale = 1.0;
  Split split = Split::kTrain;
  std::vector<std::uint64_t> frames;  ///< [frames] hash of the content; 0: too few vehicles,
                                      ///< as in the first frames of many episodes
};

struct FileDigest {
  std::string path;
  std::string scenario;
  std::string format;  ///< kFormatName or kSceneFormatName
  std::vector<EpisodeDigest> episodes;
};

/// Reads all frames.
/// @param progress receives the number of frames of each read
/// @throws DataError
[[nodiscard]] FileDigest digest_file(const DatasetReader& file,
                                     const std::function<void(std::int64_t frames)>& progress);
[[nodiscard]] FileDigest digest_file(const SceneReader& file,
                                     const std::function<void(std::int64_t frames)>& progress);

/// An episode of one of several files.
struct EpisodePlace {
  std::size_t file = 0;
  std::size_t episode = 0;
  auto operator<=>(const EpisodePlace&) const = default;
};

/// The frames that two episodes share.
struct SharedFrames {
  std::int64_t first_here = 0;   ///< the first shared frame in the later episode
  std::int64_t first_there = 0;  ///< the same frame in the earlier episode
  std::int64_t count = 0;        ///< number of shared frames
};

/// Finds frames with the same content while episodes are added.
class FrameIndex {
 public:
  /// Returns the frames that the episode shares with episodes added before. Adds its frames if
  /// `keep`.
  std::map<EpisodePlace, SharedFrames> add(EpisodePlace place, const EpisodeDigest& episode,
                                           bool keep = true);

 private:
  std::unordered_map<std::uint64_t, std::pair<EpisodePlace, std::int64_t>> seen_;
};

/// Finds leaks between splits and duplicates: episodes of one scenario, seed and demand in two
/// splits, and frames with the same content in two episodes.
/// @return a message for each of the first 20, and the number of the others
[[nodiscard]] std::vector<std::string> find_leaks(std::span<const FileDigest> files);

}  // namespace traffic::data
