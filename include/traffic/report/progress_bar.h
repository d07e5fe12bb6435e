/// ProgressBar shows the progress of a long task, as a bar on the terminal or as log lines.
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
  std::int64_t total_steps = 0;   ///< number of steps of the task; 0 if it is not known
  std::int64_t first_step = 0;    ///< step at which a resumed run continues
  std::string unit = "samples";   ///< unit of the items that update() counts
  std::string mode = "auto";      ///< "on" shows a bar, "off" writes log lines; "auto" shows a bar
                                  ///< if stderr is a terminal, and otherwise writes log lines
  double line_interval_s = 10.0;  ///< shortest time between two log lines
};

/// Writes a log line of level info when the task has advanced by 5 % since the last line, when a
/// minute has passed, and at the last step. If there is a bar, these lines go only to the log
/// files. The bar is a single line of the terminal, which is redrawn at most ten times a second.
/// Not thread-safe.
class ProgressBar {
 public:
  explicit ProgressBar(ProgressOptions options);
  /// Removes the bar from the terminal.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// @param step number of steps done so far
  /// @param items number of items processed since the last call
  /// @param values shown after the throughput, e.g. {{"loss", 0.5}}
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
