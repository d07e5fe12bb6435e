// Writes the metrics of a training at each step (metrics.h).
#include "traffic/report/metrics.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "append_file.h"
#include "line_filter.h"

namespace traffic::report {
namespace {

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Whether the step of a line of metrics.jsonl is at most `last_step`. False if the line is
/// damaged.
bool is_up_to(std::string_view line, std::int64_t last_step) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  return json.is_object() && json.contains("step") && json["step"].is_number_integer() &&
         json["step"].get<std::int64_t>() <= last_step;
}

/// Whether a line of metrics.jsonl has the same step and metrics as `figures`. Times may differ.
bool has_figures(const std::string& line, nlohmann::ordered_json figures) {
  auto json = nlohmann::ordered_json::parse(line, nullptr, false);
  if (!json.is_object()) return false;
  json["time"] = figures["time"] = 0.0;
  return json.dump() == figures.dump();  // as text, in which values that are not finite are null
}

}  // namespace

MetricsWriter::MetricsWriter(const std::filesystem::path& path,
                             std::optional<std::int64_t> resumed_step) {
  if (resumed_step) {
    keep_lines(path, [&](std::string_view line) {
      const bool kept = is_up_to(line, *resumed_step);
      if (kept) last_kept_ = line;
      return kept;
    });
  }
  file_ = std::make_unique<AppendFile>(path);
}

MetricsWriter::~MetricsWriter() = default;
MetricsWriter::MetricsWriter(MetricsWriter&&) noexcept = default;

void MetricsWriter::write(std::int64_t step, double wall_time_s, const NamedValues& values) {
  nlohmann::ordered_json json;
  json["step"] = step;
  json["time"] = wall_time_s;
  for (const auto& [name, value] : values) json[name] = value;
  // If the run was killed after it wrote a line and before it saved a checkpoint, it repeats the
  // evaluation after resuming. The file then already contains the line.
  if (has_figures(std::exchange(last_kept_, {}), json)) return;
  file_->append(json.dump() + "\n");
}

std::uint64_t MetricsWriter::num_lost() const { return file_->num_lost(); }

Scalars::Scalars(MetricsWriter metrics, std::unique_ptr<EventWriter> events)
    : metrics_(std::move(metrics)), events_(std::move(events)) {}

void Scalars::set(const std::string& name, double value) {
  for (auto& [known, old] : values_) {
    if (known == name) {
      old = value;
      return;
    }
  }
  values_.emplace_back(name, value);
}

void Scalars::write(std::int64_t step) {
  if (values_.empty()) return;
  const double now_s = unix_seconds();
  metrics_.write(step, now_s, values_);
  if (events_) events_->write(step, now_s, values_);
  values_.clear();
}

std::uint64_t Scalars::num_lost() const {
  return metrics_.num_lost() + (events_ ? events_->num_lost() : 0);
}

}  // namespace traffic::report
