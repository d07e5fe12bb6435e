/// What a data set is known by when it is compared with others: its episodes' origins and the
/// hashes of their frames.
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

namespace traffic::data {

struct EpisodeDigest {
  std::uint64_t seed = 0;
  double demand_scale = 1.0;
  Split split = Split::kTrain;
  std::vector<std::uint64_t> frames;  ///< [frames] hash of the content; 0: too few vehicles to
                                      ///< tell, since many episodes begin with the same first ones
};

struct FileDigest {
  std::string path;
  std::string scenario;
  std::vector<EpisodeDigest> episodes;
};

/// Reads all frames.
/// @param progress told how many frames more have been read
/// @throws DataError
[[nodiscard]] FileDigest digest_file(const DatasetReader& file,
                                     const std::function<void(std::int64_t frames)>& progress);

/// An episode of one of several files.
struct EpisodePlace {
  std::size_t file = 0;
  std::size_t episode = 0;
  auto operator<=>(const EpisodePlace&) const = default;
};

/// Where two episodes first show the same frame.
struct SharedFrames {
  std::int64_t first_here = 0;   ///< frame of the later episode
  std::int64_t first_there = 0;  ///< frame of the earlier one
  std::int64_t count = 0;        ///< frames of the later one that the earlier one has, too
};

/// Frames by content, episode after episode.
class FrameIndex {
 public:
  /// What the episode shares with those that were added before it; its own frames are added if
  /// `keep`.
  std::map<EpisodePlace, SharedFrames> add(EpisodePlace place, const EpisodeDigest& episode,
                                           bool keep = true);

 private:
  std::unordered_map<std::uint64_t, std::pair<EpisodePlace, std::int64_t>> seen_;
};

/// What files share that they should not: episodes of one scenario, seed and demand in two splits;
/// the same frame content in two episodes. One message each, the first 20 and the number of the
/// others.
[[nodiscard]] std::vector<std::string> find_leaks(std::span<const FileDigest> files);

}  // namespace traffic::data
