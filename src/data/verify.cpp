#include "traffic/data/verify.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "traffic/core/error.h"
#include "traffic/core/hash.h"

namespace traffic::data {
namespace {

constexpr std::size_t kMaxProblems = 20;
constexpr std::int64_t kFramesOfACheck = 64;

/// Keeps the first problems and counts the others.
class Problems {
 public:
  void add(std::string text) {
    if (found_.size() < kMaxProblems) {
      found_.push_back(std::move(text));
    } else {
      ++others_;
    }
  }
  [[nodiscard]] bool any() const { return !found_.empty(); }
  [[nodiscard]] std::vector<std::string> take() {
    if (others_ > 0) found_.push_back(fmt::format("... and {} more", others_));
    return std::move(found_);
  }

 private:
  std::vector<std::string> found_;
  std::size_t others_ = 0;
};

/// Decodes every chunk of a column; @return hash of its bytes.
std::uint64_t check_chunks(const DatasetReader& file, Column column, Problems& problems) {
  const ColumnStorage storage = file.storage(column);
  Hasher hash;
  std::vector<std::byte> bytes;
  for (std::int64_t row = 0; row < storage.rows; row += storage.chunk_rows) {
    const std::int64_t count = std::min(storage.chunk_rows, storage.rows - row);
    bytes.resize(static_cast<std::size_t>(count * storage.row_bytes));
    try {
      file.read_raw(column, row, count, bytes);
      hash.update(bytes);
    } catch (const DataError& error) {
      problems.add(error.what());
    }
  }
  return hash.digest();
}

void check_checksums(const DatasetReader& file, Problems& problems) {
  Hasher hash;
  for (const ColumnSpec& spec : column_specs()) {
    const std::array<std::uint64_t, 2> part{
        static_cast<std::uint64_t>(file.storage(spec.column).rows),
        check_chunks(file, spec.column, problems)};
    hash.update(std::as_bytes(std::span(part)));
  }
  if (!problems.any() && hash.digest() != file.info().content_hash) {
    problems.add(fmt::format("{}: the content has the hash {}, its attribute content_xxh3 says {}",
                             file.path(), hex64(hash.digest()), hex64(file.info().content_hash)));
  }
}

void check_unique_vehicles(const DatasetReader& file, const PackedFrames& frames,
                           Problems& problems) {
  std::unordered_set<std::uint32_t> seen;
  for (std::size_t f = 0; f + 1 < frames.node_ptr.size(); ++f) {
    seen.clear();
    for (auto row = frames.node_ptr[f]; row < frames.node_ptr[f + 1]; ++row) {
      const auto id = frames.vehicle_id[static_cast<std::size_t>(row)];
      if (!seen.insert(id).second) {
        problems.add(fmt::format("{}: frame {} has vehicle {} twice", file.path(),
                                 frames.first_frame + static_cast<std::int64_t>(f), id));
      }
    }
  }
}

void check_frames(const DatasetReader& file, Problems& problems) {
  for (std::int64_t frame = 0; frame < file.num_frames(); frame += kFramesOfACheck) {
    const std::int64_t count = std::min(kFramesOfACheck, file.num_frames() - frame);
    try {
      check_unique_vehicles(file, file.read_frames(frame, count), problems);
    } catch (const DataError& error) {
      problems.add(error.what());
    }
  }
}

void check_global_features(const DatasetReader& file, Problems& problems) {
  std::vector<float> values(static_cast<std::size_t>(file.num_frames()) * kNumGlobalFeatures);
  file.read_raw(Column::kFrameGlobalFeatures, 0, file.num_frames(),
                std::as_writable_bytes(std::span(values)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      problems.add(fmt::format("{}: data set frames/global_features: frame {} has {} in column {}",
                               file.path(), i / kNumGlobalFeatures, values[i],
                               i % kNumGlobalFeatures));
    }
  }
}

void check_times(const DatasetReader& file, Problems& problems) {
  const double interval = file.info().frame_interval_s;
  for (std::size_t e = 0; e < file.episodes().size(); ++e) {
    const Episode& episode = file.episodes()[e];
    const auto times = file.read_times(episode.first_frame, episode.num_frames);
    for (std::size_t i = 1; i < times.size(); ++i) {
      // Times are sums of step lengths, so the last bits may differ.
      if (std::abs(times[i] - times[i - 1] - interval) > 1e-6 * std::max(1.0, times[i])) {
        problems.add(
            fmt::format("{}: episode {}: frame {} is at {} s, {} s after the one before, "
                        "expected {} s",
                        file.path(), e, i, times[i], times[i] - times[i - 1], interval));
        break;
      }
    }
  }
}

struct Place {
  std::size_t file;
  std::size_t episode;
  std::int64_t frame;
};

std::string describe(std::span<const std::shared_ptr<const DatasetReader>> files,
                     const Place& place) {
  const auto& file = *files[place.file];
  return fmt::format("{} episode {} ({})", file.path(), place.episode,
                     to_string(file.episodes()[place.episode].split));
}

std::uint64_t hash_frame(const PackedFrames& frames, std::size_t f, std::size_t width) {
  const auto first = static_cast<std::size_t>(frames.node_ptr[f]);
  const auto count = static_cast<std::size_t>(frames.node_ptr[f + 1]) - first;
  Hasher hash;
  hash.update(std::as_bytes(std::span(frames.vehicle_id).subspan(first, count)));
  hash.update(std::as_bytes(std::span(frames.xy_m).subspan(2 * first, 2 * count)));
  hash.update(std::as_bytes(std::span(frames.node_features).subspan(width * first, width * count)));
  return hash.digest();
}

/// Frames with fewer vehicles may well be alike: many episodes begin with the same first
/// departures.
constexpr std::int32_t kTellingVehicles = 8;

/// Reports each pair of episodes that share a frame once.
class DuplicateFinder {
 public:
  explicit DuplicateFinder(std::span<const std::shared_ptr<const DatasetReader>> files)
      : files_(files) {}

  void add_episode(std::size_t file, std::size_t episode, Problems& problems) {
    const DatasetReader& reader = *files_[file];
    const Episode& range = reader.episodes()[episode];
    const std::size_t width = reader.info().node_features.size();
    for (std::int64_t frame = 0; frame < range.num_frames; frame += kFramesOfACheck) {
      const auto frames = reader.read_frames(range.first_frame + frame,
                                             std::min(kFramesOfACheck, range.num_frames - frame));
      for (std::size_t f = 0; f + 1 < frames.node_ptr.size(); ++f) {
        if (frames.node_ptr[f + 1] - frames.node_ptr[f] < kTellingVehicles) continue;
        add_frame(hash_frame(frames, f, width),
                  {file, episode, frame + static_cast<std::int64_t>(f)}, problems);
      }
    }
  }

 private:
  void add_frame(std::uint64_t hash, const Place& place, Problems& problems) {
    const auto [entry, is_new] = seen_.try_emplace(hash, place);
    const Place& other = entry->second;
    if (is_new || (other.file == place.file && other.episode == place.episode)) return;
    if (!reported_.emplace(other.file, other.episode, place.file, place.episode).second) return;
    problems.add(
        fmt::format("duplicate samples: frame {} of {} has the same content as frame {} "
                    "of {}",
                    place.frame, describe(files_, place), other.frame, describe(files_, other)));
  }

  using Pair = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;
  std::span<const std::shared_ptr<const DatasetReader>> files_;
  std::unordered_map<std::uint64_t, Place> seen_;
  std::set<Pair> reported_;
};

}  // namespace

std::vector<std::string> find_problems(const DatasetReader& file) {
  Problems problems;
  check_checksums(file, problems);
  if (problems.any()) return problems.take();  // what damaged chunks hold means nothing
  check_times(file, problems);
  check_frames(file, problems);
  check_global_features(file, problems);
  return problems.take();
}

std::vector<std::string> find_leaks(std::span<const std::shared_ptr<const DatasetReader>> files) {
  Problems problems;
  std::map<std::tuple<std::string, std::uint64_t, double>, Place> split_of;
  DuplicateFinder duplicates(files);
  for (std::size_t f = 0; f < files.size(); ++f) {
    const auto episodes = files[f]->episodes();
    for (std::size_t e = 0; e < episodes.size(); ++e) {
      const Place place{f, e, 0};
      const auto [entry, is_new] = split_of.try_emplace(
          {files[f]->info().scenario, episodes[e].seed, episodes[e].demand_scale}, place);
      const Place& other = entry->second;
      if (!is_new && files[other.file]->episodes()[other.episode].split != episodes[e].split) {
        problems.add(
            fmt::format("leak between splits: {} and {} have the same scenario, seed {} "
                        "and demand scale {}",
                        describe(files, other), describe(files, place), episodes[e].seed,
                        episodes[e].demand_scale));
      }
      duplicates.add_episode(f, e, problems);
    }
  }
  return problems.take();
}

}  // namespace traffic::data
