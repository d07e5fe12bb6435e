#include "rollouts/network_check.h"

#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "run/together.h"
#include "traffic/sim/network_study.h"

namespace traffic::train {
namespace {

/// A line in the log, once.
void log_once(const std::string& line, spdlog::level::level_enum level,
              std::set<std::string>& said) {
  if (said.insert(line).second) spdlog::log(level, "{}", line);
}

/// @param said in this process: the trainings of a plan often have the same scenarios
void look(config::Config& config, std::set<std::string>& said) {
  sim::StudyUse use{.controllers = {}, .learns = true};
  if (config.imitation.iterations > 0) use.controllers = config.imitation.controllers;
  const sim::NetworkReport report = sim::look_at_networks(config, use);
  for (const std::string& summary : report.summaries) {
    log_once("network " + summary, spdlog::level::info, said);
  }
  for (const sim::StudyFinding& finding : report.findings) {
    if (finding.severity == sim::Severity::kError) continue;
    const bool weak = finding.severity == sim::Severity::kWarning;
    log_once(finding.text(), weak ? spdlog::level::warn : spdlog::level::info, said);
  }
  sim::require_usable(report.findings);
}

}  // namespace

void look_at_networks_together(config::Config& config, comm::Communicator& communicator) {
  static std::set<std::string> said;
  nlohmann::json set;
  together(communicator, [&] {
    if (communicator.rank() != 0) return;
    look(config, said);
    set = {{"max_time_s", config.env.max_time_s}, {"cv_types", config.env.cv_types}};
  });
  set = nlohmann::json::parse(communicator.broadcast_string(set.dump(), 0));
  set.at("max_time_s").get_to(config.env.max_time_s);
  set.at("cv_types").get_to(config.env.cv_types);
}

}  // namespace traffic::train
