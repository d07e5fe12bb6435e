/// Figures over steps: one call a figure, kept as JSON lines and as TensorBoard events.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traffic::report {

class EventWriter;

struct MetricsOptions {
  std::filesystem::path dir;  ///< metrics.jsonl and tensorboard/ go here
  bool tensorboard = true;
  std::int64_t resume_step = -1;  ///< >= 0: lines of later steps are from a lost part of the run
};

/// Names are the ones users know from other trainers, in groups by '/': "train/loss".
class Metrics {
 public:
  using Values = std::vector<std::pair<std::string, double>>;

  /// Writes nothing; for ranks that do not report.
  Metrics();
  /// On resume, drops the lines of steps after resume_step so that curves do not fold back.
  /// @throws ResourceError
  explicit Metrics(const MetricsOptions& options);
  ~Metrics();
  Metrics(Metrics&&) noexcept;
  Metrics& operator=(Metrics&&) noexcept;

  /// One line: {"step": 10, "time": ..., "train/loss": 0.5, ...}; NaN and infinity become null. A
  /// line that cannot be written is counted, not fatal.
  void write(std::int64_t step, const Values& values);
  [[nodiscard]] std::int64_t lost_lines() const { return lost_lines_; }

 private:
  std::ofstream lines_;
  std::unique_ptr<EventWriter> events_;
  bool active_ = false;
  std::int64_t lost_lines_ = 0;
};

}  // namespace traffic::report
