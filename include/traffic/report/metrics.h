/// Metrics over steps: metrics.jsonl for scripts, event files for TensorBoard, and Scalars, which
/// feeds both. Training never fails because of them: lines that cannot be written are counted.
///
/// A run that is resumed at step s passes s as `resumed_step`. The writers then remove the entries
/// of later steps, which the stopped run wrote, so that no curve goes back in time.
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

/// One JSON object a line: {"step":100,"time":1738343109.25,"train/loss":0.5}. Values that are not
/// finite are null.
class MetricsWriter {
 public:
  /// @param resumed_step lines of later steps are removed; the last one left is not written again
  /// @throws ResourceError if an old file cannot be shortened
  explicit MetricsWriter(const std::filesystem::path& path,
                         std::optional<std::int64_t> resumed_step = std::nullopt);
  ~MetricsWriter();
  MetricsWriter(MetricsWriter&&) noexcept;

  void write(std::int64_t step, double wall_time_s, const NamedValues& values);
  [[nodiscard]] std::uint64_t num_lost() const;

 private:
  std::unique_ptr<AppendFile> file_;
  std::string last_kept_;  ///< until the first write
};

/// An event file as TensorBoard reads it; each run and each resumption has its own.
class EventWriter {
 public:
  explicit EventWriter(const std::filesystem::path& dir,
                       std::optional<std::int64_t> resumed_step = std::nullopt);
  ~EventWriter();
  EventWriter(EventWriter&&) noexcept;

  void write(std::int64_t step, double wall_time_s, const NamedValues& values);
  [[nodiscard]] std::uint64_t num_lost() const;

 private:
  std::unique_ptr<AppendFile> file_;
};

/// Collects the metrics of a step under the names that users know ("train/loss",
/// "rollout/ep_rew_mean") and writes them everywhere at once.
class Scalars {
 public:
  /// @param events null: no TensorBoard
  Scalars(MetricsWriter metrics, std::unique_ptr<EventWriter> events);

  /// A later value of the same name in one step replaces an earlier one.
  void set(const std::string& name, double value);
  /// Writes the values that were set since the last call; nothing if there are none.
  void write(std::int64_t step);
  [[nodiscard]] std::uint64_t num_lost() const;

 private:
  MetricsWriter metrics_;
  std::unique_ptr<EventWriter> events_;
  NamedValues values_;
};

}  // namespace traffic::report
