#include "traffic/report/metrics.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "traffic/core/atomic_file.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/report/tensorboard.h"

namespace traffic::report {
namespace {

/// Keeps the lines of steps up to last_step; a line that is cut off or unreadable goes too.
void drop_later_lines(const std::filesystem::path& path, std::int64_t last_step) {
  std::ifstream in(path);
  if (!in) return;
  std::string kept;
  for (std::string line; std::getline(in, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_discarded() && json.value("step", last_step + 1) <= last_step) kept += line + '\n';
  }
  write_file_atomically(path, kept);
}

}  // namespace

Metrics::Metrics() = default;
Metrics::~Metrics() = default;
Metrics::Metrics(Metrics&&) noexcept = default;
Metrics& Metrics::operator=(Metrics&&) noexcept = default;

Metrics::Metrics(const MetricsOptions& options) : active_(true) {
  const std::filesystem::path path = options.dir / "metrics.jsonl";
  if (options.resume_step >= 0) drop_later_lines(path, options.resume_step);
  lines_.open(path, options.resume_step >= 0 ? std::ios::app : std::ios::trunc);
  if (!lines_) throw ResourceError("cannot write {}: choose another --run-dir", path.string());
  if (options.tensorboard) {
    events_ = std::make_unique<EventWriter>(options.dir / "tensorboard", options.resume_step);
  }
}

void Metrics::write(std::int64_t step, const Values& values) {
  if (!active_) return;
  nlohmann::ordered_json line{{"step", step}, {"time", utc_timestamp()}};
  for (const auto& [name, value] : values) {
    line[name] = std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
  }
  lines_.clear();
  lines_ << line.dump() << '\n' << std::flush;
  if (!lines_) ++lost_lines_;
  if (events_ && !events_->add_scalars(step, values)) ++lost_lines_;
}

}  // namespace traffic::report
