#include "traffic/data/verify.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>

#include "problems.h"
#include "traffic/core/hash.h"

namespace traffic::data {
namespace {

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

void check_frames(const DatasetReader& file, const std::function<void(std::int64_t)>& progress,
                  Problems& problems) {
  for (std::int64_t frame = 0, count = 0; frame < file.num_frames(); frame += count) {
    count = file.frames_at_once(frame, file.num_frames());
    try {
      check_unique_vehicles(file, file.read_frames(frame, count), problems);
    } catch (const DataError& error) {
      problems.add(error.what());
    }
    progress(count);
  }
}

void check_global_features(const DatasetReader& file, Problems& problems) {
  constexpr std::int64_t kRows = 4096;
  std::vector<float> values;
  for (std::int64_t first = 0; first < file.num_frames(); first += kRows) {
    const std::int64_t count = std::min(kRows, file.num_frames() - first);
    values.resize(static_cast<std::size_t>(count) * kNumGlobalFeatures);
    file.read_raw(Column::kFrameGlobalFeatures, first, count,
                  std::as_writable_bytes(std::span(values)));
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isfinite(values[i])) continue;
      problems.add(fmt::format("{}: data set frames/global_features: frame {} has {} in column {}",
                               file.path(),
                               first + static_cast<std::int64_t>(i / kNumGlobalFeatures), values[i],
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

}  // namespace

std::vector<std::string> find_problems(const DatasetReader& file,
                                       const std::function<void(std::int64_t)>& progress) {
  Problems problems;
  check_checksums(file, problems);
  if (problems.any()) return problems.take();  // what damaged chunks hold means nothing
  check_times(file, problems);
  check_frames(file, progress, problems);
  check_global_features(file, problems);
  return problems.take();
}

}  // namespace traffic::data
