// Dataset: opens the files of one split, and enumerates their samples and blocks.
#include "traffic/data/dataset.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "traffic/core/error.h"
#include "traffic/core/hash.h"
#include "traffic/data/plausible.h"

namespace traffic::data {
namespace {

/// Size that a decoded block should have. It is large compared with the frames that two
/// neighbouring blocks have in common, and small compared with data.cache_mb.
constexpr std::int64_t kBlockBytes = 8 << 20;
/// Maximum number of frames in a block. It limits blocks whose frames have few vehicles.
constexpr std::int64_t kBlockFrames = 1024;

void check_options(const WindowOptions& options) {
  const auto at_least = [](std::int64_t value, std::int64_t least, const char* key) {
    if (value < least) {
      throw ConfigError("data.{} is {}, expected at least {}", key, value, least);
    }
  };
  at_least(options.history_frames, 1, "history_frames");
  at_least(options.horizon_frames, 1, "horizon_frames");
  at_least(options.max_vehicles, 1, "max_vehicles");
  at_least(options.stride_frames, 1, "sample_stride_frames");
  at_least(options.max_time_shift, 0, "augmentation.time_shift_frames");
}

/// Describes the first difference between the names and units of two feature tables; empty if there
/// is none. Offsets and scales may differ, because training normalises features with the offsets
/// and scales of this program and not with those of the file.
std::string difference(const FeatureTable& found, const FeatureTable& expected) {
  if (found.size() != expected.size()) {
    return fmt::format("{} features, expected {}", found.size(), expected.size());
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& f = found[i];
    const auto& e = expected[i];
    if (f.name == e.name && f.unit == e.unit) continue;
    return fmt::format("feature {} is {} [{}], expected {} [{}]", i, f.name, f.unit, e.name,
                       e.unit);
  }
  return "";
}

void check_compatible(const DatasetReader& file, const FileInfo& program, double interval_s) {
  const FileInfo& info = file.info();
  for (const auto& [kind, found, expected] :
       {std::tuple{"node", &info.node_features, &program.node_features},
        std::tuple{"edge", &info.edge_features, &program.edge_features},
        std::tuple{"global", &info.global_features, &program.global_features}}) {
    const std::string problem = difference(*found, *expected);
    if (!problem.empty()) {
      throw DataError(
          "{}: its {} features are not those of this program: {}; record the file "
          "again with this version",
          file.path(), kind, problem);
    }
  }
  for (const auto name : {kPositionFeature, kSpeedFeature}) {
    const auto column = static_cast<std::size_t>(feature_index(info.node_features, name));
    if (!info.node_features[column].present) {
      throw DataError(
          "{}: the file does not have the feature {}, without which nothing can be predicted; "
          "convert it from a source that has this feature",
          file.path(), name);
    }
  }
  if (!same_interval(info.frame_interval_s, interval_s)) {
    throw DataError(
        "{}: its frames are {} s apart, but the frames of the first file are {} s apart; train on "
        "files with the same interval",
        file.path(), info.frame_interval_s, interval_s);
  }
}

/// Marks the features that are not present in `other` as not present in `table`.
void intersect(FeatureTable& table, const FeatureTable& other) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i].present = table[i].present && other[i].present;
  }
}

}  // namespace

Dataset::Dataset(std::vector<std::shared_ptr<const DatasetReader>> files, Split split,
                 const WindowOptions& options)
    : files_(std::move(files)), split_(split), options_(options) {
  check_options(options_);
  if (files_.empty()) throw DataError("a data set needs at least one file");
  const FileInfo program = file_info_of_this_program();
  info_ = files_.front()->info();
  if (options_.max_samples > 0) all_samples_ = count_samples();
  for (std::size_t f = 0; f < files_.size(); ++f) {
    const FileInfo& file = files_[f]->info();
    check_compatible(*files_[f], program, info_.frame_interval_s);
    intersect(info_.node_features, file.node_features);
    intersect(info_.edge_features, file.edge_features);
    intersect(info_.global_features, file.global_features);
    const auto episodes = files_[f]->episodes();
    for (std::size_t e = 0; e < episodes.size(); ++e) {
      if (episodes[e].split == split_) {
        add_episode(static_cast<std::int32_t>(f), static_cast<std::int32_t>(e));
      }
    }
  }
  compute_fingerprint();
}

std::int64_t Dataset::count_samples() const {
  std::int64_t samples = 0;
  for (const auto& file : files_) {
    const auto nodes = file->node_ptr();
    for (const Episode& episode : file->episodes()) {
      if (episode.split != split_) continue;
      const std::int64_t anchors = num_anchors(episode.num_frames, options_);
      for (std::int64_t a = 0; a < anchors; ++a) {
        const auto frame = static_cast<std::size_t>(episode.first_frame + options_.history_frames -
                                                    1 + a * options_.stride_frames);
        samples += num_crops(nodes[frame + 1] - nodes[frame], options_.max_vehicles);
      }
    }
  }
  return samples;
}

std::int64_t Dataset::take_anchor(std::int64_t crops) {
  if (all_samples_ <= options_.max_samples) return crops;  // no limit, or not reached
  seen_samples_ += crops;
  const double due = static_cast<double>(options_.max_samples) *
                     static_cast<double>(seen_samples_) / static_cast<double>(all_samples_);
  const auto with_it = static_cast<double>(anchor_first_sample_.back() + crops);
  return with_it <= due ? crops : 0;
}

void Dataset::add_episode(std::int32_t file, std::int32_t episode) {
  const DatasetReader& reader = *files_[static_cast<std::size_t>(file)];
  const Episode& info = reader.episodes()[static_cast<std::size_t>(episode)];
  const auto nodes = reader.node_ptr();
  const auto edges = reader.edge_ptr();
  const auto bytes_between = [&](std::int64_t first, std::int64_t end) {
    const auto a = static_cast<std::size_t>(first);
    const auto b = static_cast<std::size_t>(end);
    const auto node_bytes = static_cast<std::int64_t>(
        sizeof(float) * (reader.info().node_features.size() + 3) + 4 * sizeof(std::int32_t));
    constexpr auto kEdgeBytes = static_cast<std::int64_t>(sizeof(float) * (kNumEdgeFeatures + 1));
    return (nodes[b] - nodes[a]) * node_bytes + (edges[b] - edges[a]) * kEdgeBytes;
  };
  const std::int64_t anchors = num_anchors(info.num_frames, options_);
  const std::int64_t episode_end = info.first_frame + info.num_frames;
  const std::int64_t by_bytes = bytes_between(info.first_frame, episode_end) / kBlockBytes + 1;
  const std::int64_t by_frames = info.num_frames / kBlockFrames + 1;
  const std::int64_t num_blocks = std::min(anchors, std::max(by_bytes, by_frames));
  for (std::int64_t b = 0; b < num_blocks; ++b) {
    SampleBlock block{.first_sample = anchor_first_sample_.back()};
    const std::int64_t first_anchor = anchors * b / num_blocks;
    const std::int64_t end_anchor = anchors * (b + 1) / num_blocks;
    const auto frame_of = [&](std::int64_t anchor) {
      return info.first_frame + options_.history_frames - 1 + anchor * options_.stride_frames;
    };
    std::int64_t first_used = end_anchor;
    std::int64_t last_used = first_anchor;
    for (std::int64_t a = first_anchor; a < end_anchor; ++a) {
      const auto frame = static_cast<std::size_t>(frame_of(a));
      const std::int64_t crops =
          take_anchor(num_crops(nodes[frame + 1] - nodes[frame], options_.max_vehicles));
      if (crops == 0) continue;
      first_used = std::min(first_used, a);
      last_used = a;
      anchor_frame_.push_back(frame_of(a));
      anchor_first_sample_.push_back(anchor_first_sample_.back() + crops);
      block.num_samples += crops;
    }
    if (block.num_samples == 0) continue;
    const std::int64_t first =
        std::max(info.first_frame,
                 frame_of(first_used) - options_.history_frames + 1 - options_.max_time_shift);
    const std::int64_t end = std::min(
        episode_end, frame_of(last_used) + 1 + options_.horizon_frames + options_.max_time_shift);
    block.decoded_bytes = bytes_between(first, end);
    ranges_.push_back(
        {.file = file, .episode = episode, .first_frame = first, .num_frames = end - first});
    blocks_.push_back(block);
  }
}

void Dataset::compute_fingerprint() {
  Hasher hash;
  const auto add = [&](std::uint64_t value) { hash.update(std::as_bytes(std::span(&value, 1))); };
  for (const auto& file : files_) add(file->info().content_hash);
  add(static_cast<std::uint64_t>(split_));
  for (const std::int64_t value : {options_.history_frames, options_.horizon_frames,
                                   options_.max_vehicles, options_.stride_frames, num_samples()}) {
    add(static_cast<std::uint64_t>(value));
  }
  for (const auto& block : blocks_) add(static_cast<std::uint64_t>(block.first_sample));
  fingerprint_ = hash.digest();
}

std::string Dataset::name() const { return fmt::format("the {} split", to_string(split_)); }

std::string Dataset::advice_when_empty() const {
  return fmt::format(
      "it has {} files (the first: {}); samples need episodes of at least history_frames + "
      "horizon_frames = {} frames",
      num_files(), file(0).path(), options_.history_frames + options_.horizon_frames);
}

double Dataset::region(std::int64_t sample) const {
  const auto after =
      std::upper_bound(anchor_first_sample_.begin(), anchor_first_sample_.end(), sample);
  const std::int64_t first = *(after - 1);
  return (static_cast<double>(sample - first) + 0.5) / static_cast<double>(*after - first);
}

SampleLocation Dataset::locate(std::int64_t sample) const {
  TRAFFIC_CHECK(sample >= 0 && sample < num_samples(),
                "sample {} does not exist: there are {} samples, counted from 0", sample,
                num_samples());
  const auto after =
      std::upper_bound(anchor_first_sample_.begin(), anchor_first_sample_.end(), sample);
  const auto anchor = static_cast<std::size_t>(after - anchor_first_sample_.begin()) - 1;
  const auto block =
      std::upper_bound(blocks_.begin(), blocks_.end(), sample,
                       [](std::int64_t s, const SampleBlock& b) { return s < b.first_sample; });
  return {.block = static_cast<std::int32_t>(block - blocks_.begin()) - 1,
          .anchor_frame = anchor_frame_[anchor],
          .crop = sample - anchor_first_sample_[anchor]};
}

WindowOptions window_options(const config::Data& data) {
  return {.history_frames = data.history_frames,
          .horizon_frames = data.horizon_frames,
          .max_vehicles = data.max_vehicles,
          .stride_frames = data.sample_stride_frames,
          .max_time_shift =
              data.augmentation.enabled ? data.augmentation.time_shift_frames : std::int64_t{0},
          .max_samples = data.max_samples};
}

OpenedFiles open_data_files(const config::Data& data) {
  OpenedFiles opened;
  const auto paths = find_data_files(data.files);
  for (const auto& path : paths) {
    try {
      opened.files.push_back(std::make_shared<const DatasetReader>(path));
    } catch (const DataError& error) {
      if (data.max_bad_file_share <= 0) throw;
      opened.skipped.emplace_back(error.what());
    }
  }
  const double share =
      static_cast<double>(opened.skipped.size()) / static_cast<double>(paths.size());
  if (share > data.max_bad_file_share || opened.files.empty()) {
    throw DataError(
        "{} of {} files are unreadable, but data.max_bad_file_share allows a share of {}; the "
        "first error: {}",
        opened.skipped.size(), paths.size(), data.max_bad_file_share, opened.skipped.front());
  }
  return opened;
}

}  // namespace traffic::data
