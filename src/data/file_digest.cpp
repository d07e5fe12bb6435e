// Computes hashes of the episodes of a data set file, by which equal traffic is found.
#include "traffic/data/file_digest.h"

#include <algorithm>
#include <tuple>

#include "problems.h"
#include "traffic/core/hash.h"
#include "traffic/core/text.h"

namespace traffic::data {
namespace {

constexpr std::int32_t kTellingVehicles = 8;

std::uint64_t hash_frame(const PackedFrames& frames, std::size_t f, std::size_t width) {
  const auto first = static_cast<std::size_t>(frames.node_ptr[f]);
  const auto count = static_cast<std::size_t>(frames.node_ptr[f + 1]) - first;
  if (static_cast<std::int32_t>(count) < kTellingVehicles) return 0;
  Hasher hash;
  hash.update(std::as_bytes(std::span(frames.vehicle_id).subspan(first, count)));
  hash.update(std::as_bytes(std::span(frames.xy_m).subspan(2 * first, 2 * count)));
  hash.update(std::as_bytes(std::span(frames.node_features).subspan(width * first, width * count)));
  return hash.digest();
}

std::uint64_t hash_frame(const driving::RecordedScene& scene, std::size_t f) {
  const auto nodes = scene.frame(f);
  if (static_cast<std::int32_t>(nodes.size()) < kTellingVehicles) return 0;
  static_assert(sizeof(driving::SceneNode) == 7 * sizeof(float), "padding would have no value");
  return xxh3_64(std::as_bytes(nodes));
}

std::string describe(std::span<const FileDigest> files, const EpisodePlace& place) {
  const FileDigest& file = files[place.file];
  return fmt::format("{} episode {} ({})", file.path, place.episode,
                     to_string(file.episodes[place.episode].split));
}

}  // namespace

FileDigest digest_file(const DatasetReader& file,
                       const std::function<void(std::int64_t frames)>& progress) {
  FileDigest digest{.path = file.path(),
                    .scenario = file.info().scenario,
                    .format = std::string(kFormatName),
                    .episodes = {}};
  const std::size_t width = file.info().node_features.size();
  for (const Episode& episode : file.episodes()) {
    EpisodeDigest& one = digest.episodes.emplace_back();
    one.seed = episode.seed;
    one.demand_scale = episode.demand_scale;
    one.split = episode.split;
    const std::int64_t end = episode.first_frame + episode.num_frames;
    for (std::int64_t frame = episode.first_frame, count = 0; frame < end; frame += count) {
      count = file.frames_at_once(frame, end);
      const auto frames = file.read_frames(frame, count);
      for (std::size_t f = 0; f + 1 < frames.node_ptr.size(); ++f) {
        one.frames.push_back(hash_frame(frames, f, width));
      }
      progress(count);
    }
  }
  return digest;
}

FileDigest digest_file(const SceneReader& file,
                       const std::function<void(std::int64_t frames)>& progress) {
  FileDigest digest{.path = file.path(),
                    .scenario = file.info().scenario,
                    .format = std::string(kSceneFormatName),
                    .episodes = {}};
  for (std::size_t i = 0; i < file.episodes().size(); ++i) {
    const SceneEpisode& episode = file.episodes()[i];
    const driving::RecordedScene scene = file.read(i);
    EpisodeDigest& one = digest.episodes.emplace_back();
    one.seed = episode.seed;
    one.demand_scale = episode.demand_scale;
    one.split = episode.split;
    for (std::size_t f = 0; f < scene.num_frames(); ++f) one.frames.push_back(hash_frame(scene, f));
    progress(episode.num_frames);
  }
  return digest;
}

std::map<EpisodePlace, SharedFrames> FrameIndex::add(EpisodePlace place,
                                                     const EpisodeDigest& episode, bool keep) {
  std::map<EpisodePlace, SharedFrames> shared;
  for (std::size_t f = 0; f < episode.frames.size(); ++f) {
    if (episode.frames[f] == 0) continue;
    const auto frame = static_cast<std::int64_t>(f);
    const auto found = seen_.find(episode.frames[f]);
    if (found == seen_.end() || found->second.first == place) continue;
    const auto& [other, other_frame] = found->second;
    ++shared.try_emplace(other, SharedFrames{frame, other_frame, 0}).first->second.count;
  }
  for (std::size_t f = 0; keep && f < episode.frames.size(); ++f) {
    if (episode.frames[f] == 0) continue;
    seen_.try_emplace(episode.frames[f], place, static_cast<std::int64_t>(f));
  }
  return shared;
}

std::vector<std::string> find_leaks(std::span<const FileDigest> files) {
  Problems problems;
  std::map<std::tuple<std::string, std::string, std::uint64_t, double>, EpisodePlace> split_of;
  FrameIndex frames;
  for (std::size_t f = 0; f < files.size(); ++f) {
    const bool is_scenes = files[f].format == kSceneFormatName;
    for (std::size_t e = 0; e < files[f].episodes.size(); ++e) {
      const EpisodeDigest& episode = files[f].episodes[e];
      const EpisodePlace place{f, e};
      const auto [entry, is_new] = split_of.try_emplace(
          {files[f].format, files[f].scenario, episode.seed, episode.demand_scale}, place);
      const EpisodePlace& other = entry->second;
      if (!is_new && files[other.file].episodes[other.episode].split != episode.split) {
        problems.add(fmt::format(
            "leak between splits: {} and {} have the same scenario, seed {} "
            "and demand scale {}; {}",
            describe(files, other), describe(files, place), episode.seed, episode.demand_scale,
            is_scenes ? "record it with other seeds"
                      : "data_prep split assigns splits without leaks"));
      }
      for (const auto& [there, shared] : frames.add(place, episode)) {
        problems.add(fmt::format(
            "duplicate samples: frame {} of {} has the same content as frame {} of {} ({} in "
            "all); {}",
            shared.first_here, describe(files, place), shared.first_there, describe(files, there),
            counted(shared.count, "frame"),
            is_scenes ? "leave one of the two out" : "data_prep dedupe removes them"));
      }
    }
  }
  return problems.take();
}

}  // namespace traffic::data
