/// Reads metrics.jsonl and episodes.csv, to which a run appends lines. They may be read while the
/// run is in progress.
///
/// If the writer was killed or is still writing, the last line may be incomplete. This line is then
/// left out, and `ends_in_half_line` is set. `damaged` lists all other lines that cannot be read,
/// with file, line number and reason. For a file that does not exist there are no rows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/report/metrics.h"

namespace traffic::report {

struct MetricsRow {
  std::int64_t step = 0;
  double time_s = 0.0;  ///< Unix time; NaN if the line has none
  NamedValues values;   ///< NaN where the file has null
};

struct SeriesPoint {
  std::int64_t step = 0;
  double value = 0.0;
};

struct Metrics {
  std::vector<MetricsRow> rows;
  std::vector<std::string> damaged;  ///< e.g. "DIR/metrics.jsonl:3: no JSON object"
  bool ends_in_half_line = false;

  /// The metric with this name at all steps that have it.
  [[nodiscard]] std::vector<SeriesPoint> series(std::string_view name) const;
};

struct Episodes {
  std::vector<std::string> columns;            ///< "step" first
  std::vector<std::vector<std::string>> rows;  ///< fields in the order of `columns`
  std::vector<std::string> damaged;  ///< e.g. "DIR/episodes.csv:3: 4 fields for 9 columns"
  bool ends_in_half_line = false;
};

/// @throws ResourceError if the file exists but cannot be read
Metrics read_metrics(const std::filesystem::path& path);
/// @throws ResourceError if the file exists but cannot be read
Episodes read_episodes(const std::filesystem::path& path);

}  // namespace traffic::report
