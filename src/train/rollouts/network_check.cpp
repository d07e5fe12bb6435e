#include "rollouts/network_check.h"

#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "run/together.h"
#include "traffic/sim/network_study.h"

namespace traffic::train {
namespace {

/// Logs a line unless it is in `logged`.
void log_once(const std::string& line, spdlog::level::level_enum level,
              std::set<std::string>& logged) {
  if (logged.insert(line).second) spdlog::log(level, "{}", line);
}

/// @param logged lines that this process has already logged and does not repeat, because the phases
///   of a run often have the same scenarios
void look(config::Config& config, std::set<std::string>& logged) {
  sim::StudyUse use{.controllers = {}, .learns = true};
  if (config.imitation.iterations > 0) use.controllers = config.imitation.controllers;
  const sim::NetworkReport report = sim::look_at_networks(config, use);
  for (const std::string& summary : report.summaries) {
    log_once("network " + summary, spdlog::level::info, logged);
  }
  for (const sim::StudyFinding& finding : report.findings) {
    if (finding.severity == sim::Severity::kError) continue;
    const bool warns = finding.severity == sim::Severity::kWarning;
    log_once(finding.text(), warns ? spdlog::level::warn : spdlog::level::info, logged);
  }
  sim::require_usable(report.findings);
}

}  // namespace

void look_at_networks_together(config::Config& config, comm::Communicator& communicator) {
  static std::set<std::string> logged;
  nlohmann::json settings;
  together(communicator, [&] {
    if (communicator.rank() != 0) return;
    look(config, logged);
    settings = {{"max_time_s", config.env.max_time_s}, {"cv_types", config.env.cv_types}};
  });
  settings = nlohmann::json::parse(communicator.broadcast_string(settings.dump(), 0));
  settings.at("max_time_s").get_to(config.env.max_time_s);
  settings.at("cv_types").get_to(config.env.cv_types);
}

}  // namespace traffic::train
