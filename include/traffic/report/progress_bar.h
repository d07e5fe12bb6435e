/// Shows how far a long task has come, for the person who waits for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "traffic/report/step_pace.h"

namespace traffic::report {

struct ProgressOptions {
  std::string label;              ///< e.g. "phase 1"
  std::int64_t total_steps = 0;   ///< 0: not known
  std::int64_t first_step = 0;    ///< step at which a resumed run goes on
  std::string unit = "samples";   ///< what update() counts
  std::string mode = "auto";      ///< on: the bar, off: log lines, auto: the bar on a terminal
  double line_interval_s = 10.0;  ///< shortest time between two log lines
};

/// Writes a log line (info) when the task has advanced by 5 % since the last line, or after a
/// minute, and at the last step. On a terminal the lines go to the log files only, and the terminal
/// shows one line that is redrawn at most ten times a second. For one thread.
class ProgressBar {
 public:
  explicit ProgressBar(ProgressOptions options);
  /// Removes the bar from the terminal.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// @param step steps done, of total_steps
  /// @param items processed since the last call, in `unit`
  /// @param values shown behind the throughput, e.g. {{"loss", 0.5}}
  void update(std::int64_t step, std::int64_t items,
              const std::vector<std::pair<std::string, double>>& values);
  /// The text that update() showed last: "phase 1: 50 % (5/10), 512 samples/s, loss 0.5, 3 min 05 s
  /// left".
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  [[nodiscard]] std::string describe(
      std::int64_t step, const std::vector<std::pair<std::string, double>>& values) const;
  [[nodiscard]] bool is_line_due(std::int64_t step, double now_s) const;
  void measure(std::int64_t step, double now_s);
  void draw(std::int64_t step) const;

  ProgressOptions options_;
  bool on_terminal_;
  std::string text_;
  double last_drawn_s_;
  double last_logged_s_;
  std::int64_t last_logged_step_;
  double last_measured_s_;
  std::int64_t last_step_;
  std::int64_t pending_items_ = 0;
  double items_per_s_ = 0.0;
  StepPace pace_;
};

}  // namespace traffic::report
