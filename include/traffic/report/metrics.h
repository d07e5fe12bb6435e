/// Writes the metrics of a training, such as its loss, at each step: metrics.jsonl for scripts, and
/// event files for TensorBoard. The training uses Scalars, which writes to both. A training never
/// fails because of these files: entries that cannot be written are lost and counted.
///
/// A run that is resumed at step s passes s as `resumed_step`. The writers then remove the entries
/// of later steps, which the earlier process of the run wrote. Otherwise curves would go back in
/// time. (Event files are not shortened; TensorBoard is told to ignore these entries.)
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace traffic::report {

class AppendFile;

using NamedValues = std::vector<std::pair<std::string, double>>;

/// Writes one JSON object per line: {"step":100,"time":1738343109.25,"train/loss":0.5}. Values that
/// are not finite become null.
class MetricsWriter {
 public:
  /// @param resumed_step lines of later steps are removed. If the first write() has the same step
  ///   and metrics as the last remaining line, it writes nothing: the resumed run has repeated an
  ///   evaluation
  /// @throws ResourceError if an existing file cannot be shortened
  explicit MetricsWriter(const std::filesystem::path& path,
                         std::optional<std::int64_t> resumed_step = std::nullopt);
  ~MetricsWriter();
  MetricsWriter(MetricsWriter&&) noexcept;

  /// @param wall_time_s Unix time
  void write(std::int64_t step, double wall_time_s, const NamedValues& values);
  /// Number of lost lines.
  [[nodiscard]] std::uint64_t num_lost() const;

 private:
  std::unique_ptr<AppendFile> file_;
  std::string last_kept_;  ///< last line before the run was resumed; empty after the first write
};

/// Writes an event file of TensorBoard. A resumed run begins a new file.
class EventWriter {
 public:
  explicit EventWriter(const std::filesystem::path& dir,
                       std::optional<std::int64_t> resumed_step = std::nullopt);
  ~EventWriter();
  EventWriter(EventWriter&&) noexcept;

  /// @param wall_time_s Unix time
  void write(std::int64_t step, double wall_time_s, const NamedValues& values);
  /// Number of lost entries.
  [[nodiscard]] std::uint64_t num_lost() const;

 private:
  std::unique_ptr<AppendFile> file_;
};

/// Collects the metrics of a step, such as "train/loss" and "rollout/ep_rew_mean", and writes them
/// to both files at once.
class Scalars {
 public:
  /// @param events null means that no event file is written
  Scalars(MetricsWriter metrics, std::unique_ptr<EventWriter> events);

  /// Sets a metric of the current step. Replaces an earlier value of the same name.
  void set(const std::string& name, double value);
  /// Writes the values that were set since the last call, with the present time. Writes nothing if
  /// no value was set.
  void write(std::int64_t step);
  /// Number of lost entries in both files.
  [[nodiscard]] std::uint64_t num_lost() const;

 private:
  MetricsWriter metrics_;
  std::unique_ptr<EventWriter> events_;
  NamedValues values_;
};

}  // namespace traffic::report
