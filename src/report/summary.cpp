#include "traffic/report/summary.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "traffic/core/atomic_file.h"
#include "traffic/core/hash.h"

namespace traffic::report {

void write_summary(const std::filesystem::path& dir, const Summary& summary) {
  nlohmann::ordered_json json{{"status", summary.status},
                              {"phase", summary.phase},
                              {"steps", summary.steps},
                              {"seconds", summary.seconds},
                              {"samples_per_s", summary.samples_per_s},
                              {"env_steps_per_s", summary.env_steps_per_s},
                              {"startup_s", summary.startup_s}};
  const std::int64_t total = std::accumulate(summary.peak_rss_bytes.begin(),
                                             summary.peak_rss_bytes.end(), std::int64_t{0});
  json["peak_rss_bytes"] = {{"per_rank", summary.peak_rss_bytes}, {"total", total}};
  double all_seconds = 0.0;
  for (const auto& [part, seconds] : summary.time_seconds) all_seconds += seconds;
  auto share = nlohmann::ordered_json::object();
  for (const auto& [part, seconds] : summary.time_seconds)
    share[part] = seconds / std::max(all_seconds, 1e-9);
  json["time_share"] = share;
  auto result = nlohmann::ordered_json::object();
  for (const auto& [name, value] : summary.result) {
    result[name] = std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
  }
  json["result"] = result;
  json["parameters_xxh3"] = hex64(summary.parameters_xxh3);
  json["faults"] = summary.faults;
  write_file_atomically(dir / "summary.json", json.dump(2) + "\n");
}

}  // namespace traffic::report
