#include "traffic/report/progress.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "traffic/core/clock.h"
#include "traffic/core/text.h"

namespace traffic::report {
namespace {

constexpr double kBarInterval_s = 0.2;
constexpr double kLineInterval_s = 10.0;
constexpr int kBarWidth = 24;

}  // namespace

Progress::Progress(const std::string& mode, std::string unit, std::int64_t total)
    : bar_(mode == "on" || (mode == "auto" && isatty(STDOUT_FILENO) == 1)),
      unit_(std::move(unit)),
      total_(std::max<std::int64_t>(1, total)),
      started_(steady_seconds()) {}

Progress::~Progress() { finish(); }

void Progress::update(std::int64_t done, const std::string& text) {
  const double now = steady_seconds();
  if (first_ < 0) first_ = std::max<std::int64_t>(0, done - 1);
  const bool last = done >= total_;
  if (!last && now - last_shown_ < (bar_ ? kBarInterval_s : kLineInterval_s)) return;
  last_shown_ = now;
  const auto made = static_cast<double>(done - first_);
  const double left_s =
      made > 0 ? (now - started_) / made * static_cast<double>(total_ - done) : 0.0;
  const std::string line =
      fmt::format("{} {}/{}, {}, {} left", unit_, done, total_, text, human_duration(left_s));
  if (!bar_) {
    spdlog::info("{}", line);
    return;
  }
  const auto filled = static_cast<int>(kBarWidth * done / total_);
  std::fprintf(
      stdout, "\r[%s%s] %s\033[K", std::string(static_cast<std::size_t>(filled), '#').c_str(),
      std::string(static_cast<std::size_t>(kBarWidth - filled), ' ').c_str(), line.c_str());
  std::fflush(stdout);
  line_open_ = true;
}

void Progress::finish() {
  if (line_open_) {
    std::fputc('\n', stdout);
    std::fflush(stdout);
  }
  line_open_ = false;
}

}  // namespace traffic::report
