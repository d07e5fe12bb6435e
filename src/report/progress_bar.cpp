// ProgressBar: shows the progress of a long task, as a bar on the terminal or as log lines.
#include "traffic/report/progress_bar.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "console.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/text.h"
#include "traffic/report/logging.h"

namespace traffic::report {
namespace {

constexpr double kRedrawIntervalSeconds = 0.1;
/// A log line is due when the task has advanced by kLineShare of its steps, or when
/// kLongestSilenceSeconds have passed since the last line.
constexpr double kLineShare = 0.05;
constexpr double kLongestSilenceSeconds = 60.0;
/// Time constant of the exponential moving average of the items per second.
constexpr double kMemorySeconds = 15.0;
constexpr std::size_t kBarWidth = 20;

std::string drawing(double share) {
  const auto filled = static_cast<std::size_t>(std::lround(share * static_cast<double>(kBarWidth)));
  return fmt::format("[{:<{}}] ", std::string(filled, '='), kBarWidth);
}

bool wants_terminal(const std::string& mode) {
  if (mode == "auto") return Console::is_terminal();
  if (mode != "on" && mode != "off") {
    throw ConfigError("log.progress is '{}', expected: auto, on or off", mode);
  }
  return mode == "on";
}

}  // namespace

ProgressBar::ProgressBar(ProgressOptions options)
    : options_(std::move(options)),
      on_terminal_(wants_terminal(options_.mode)),
      last_drawn_s_(steady_seconds()),
      last_logged_s_(last_drawn_s_),
      last_logged_step_(options_.first_step),
      last_measured_s_(last_drawn_s_),
      last_step_(options_.first_step) {}

ProgressBar::~ProgressBar() {
  if (on_terminal_) Console::instance().progress("");
}

void ProgressBar::update(std::int64_t step, std::int64_t items,
                         const std::vector<std::pair<std::string, double>>& values) {
  pending_items_ += items;
  const double now_s = steady_seconds();
  const bool last = options_.total_steps > 0 && step >= options_.total_steps;
  const bool drawn = on_terminal_ && (last || now_s - last_drawn_s_ >= kRedrawIntervalSeconds);
  const bool logged = last || is_line_due(step, now_s);
  if (!drawn && !logged) return;
  measure(step, now_s);
  text_ = describe(step, values);
  if (logged) {
    last_logged_s_ = now_s;
    last_logged_step_ = step;
    on_terminal_ ? log_to_files(text_) : spdlog::info("{}", text_);
  }
  if (drawn) {
    last_drawn_s_ = now_s;
    draw(step);
  }
}

bool ProgressBar::is_line_due(std::int64_t step, double now_s) const {
  const double silence_s = now_s - last_logged_s_;
  if (silence_s < options_.line_interval_s) return false;
  const auto whole = static_cast<double>(std::max(options_.total_steps, step));
  const auto advanced = static_cast<double>(step - last_logged_step_);
  return advanced >= kLineShare * whole || silence_s >= kLongestSilenceSeconds;
}

void ProgressBar::draw(std::int64_t step) const {
  const double share = options_.total_steps > 0
                           ? static_cast<double>(step) / static_cast<double>(options_.total_steps)
                           : 0.0;
  // The line must not wrap, because a wrapped line cannot be overwritten. A narrow terminal
  // therefore gets the text without the drawing.
  const auto width = static_cast<std::size_t>(std::max(1, Console::width() - 1));
  std::string line = drawing(std::clamp(share, 0.0, 1.0)) + text_;
  if (line.size() > width) line = text_.substr(0, width);
  Console::instance().progress(std::move(line));
}

void ProgressBar::measure(std::int64_t step, double now_s) {
  const double interval_s = now_s - last_measured_s_;
  if (interval_s <= 0.0) return;
  const bool first = items_per_s_ == 0.0;
  const double weight = first ? 1.0 : 1.0 - std::exp(-interval_s / kMemorySeconds);
  items_per_s_ += weight * (static_cast<double>(pending_items_) / interval_s - items_per_s_);
  pace_.add(step - last_step_, interval_s);
  pending_items_ = 0;
  last_step_ = step;
  last_measured_s_ = now_s;
}

std::string ProgressBar::describe(std::int64_t step,
                                  const std::vector<std::pair<std::string, double>>& values) const {
  std::string text = options_.label;
  if (options_.total_steps > 0) {
    text += fmt::format(": {} % ({}/{})", 100 * step / options_.total_steps, step,
                        options_.total_steps);
  } else {
    text += fmt::format(": step {}", step);
  }
  text += fmt::format(", {:.4g} {}/s", items_per_s_, options_.unit);
  for (const auto& [name, value] : values) text += fmt::format(", {} {:.4g}", name, value);
  const double step_s = pace_.seconds_per_step();
  if (options_.total_steps > step && step_s > 0.0) {
    const double left_s = static_cast<double>(options_.total_steps - step) * step_s;
    text += fmt::format(", {} left", human_duration(left_s));
  }
  return text;
}

}  // namespace traffic::report
