// Writes summary.json, the result of a run.
#include "traffic/report/summary.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "traffic/core/atomic_file.h"
#include "traffic/core/clock.h"

namespace traffic::report {
namespace {

nlohmann::ordered_json or_null(const std::optional<double>& value) {
  if (!value) return nullptr;
  return *value;
}

}  // namespace

void write_summary(const std::filesystem::path& path, const Summary& summary) {
  nlohmann::ordered_json json;
  json["format_version"] = 1;
  json["status"] = summary.status;
  json["message"] = summary.message;
  json["exit_code"] = summary.exit_code;
  const bool is_number = !summary.phase.empty() && std::ranges::all_of(summary.phase, [](char c) {
    return c >= '0' && c <= '9';
  });
  if (is_number) {
    json["phase"] = std::stoi(summary.phase);
  } else {
    json["phase"] = summary.phase;
  }
  json["training"] = summary.training;
  json["world_size"] = summary.world_size;
  json["steps"] = summary.steps;
  json["seconds"] = summary.seconds;
  for (const char* rate : {"samples_per_s", "env_steps_per_s"}) json[rate] = nullptr;
  for (const auto& [rate, value] : summary.rates) json[rate] = value;
  json["startup_s"] = or_null(summary.startup_s);
  const auto& rss = summary.peak_rss_bytes;
  json["peak_rss_bytes"] = {{"per_rank", rss},
                            {"total", std::accumulate(rss.begin(), rss.end(), std::int64_t{0})}};
  json["time_share"] = summary.time_share;
  json["result"] = summary.result;
  json["parameters_xxh3"] = summary.parameters_xxh3;
  json["faults"] = summary.faults;
  json["written_at"] = utc_timestamp();
  // The error message of a library may not be UTF-8; invalid bytes are replaced.
  constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;
  write_file_atomically(path, json.dump(2, ' ', false, kReplace) + "\n");
}

}  // namespace traffic::report
