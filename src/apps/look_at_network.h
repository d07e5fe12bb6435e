/// The report about a scenario that programs print before they run controllers in it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "traffic/config/config.h"
#include "traffic/sim/network_study.h"
#include "traffic/train/evaluate/environment.h"

namespace traffic::apps {

/// Prints a summary of the scenario and the settings chosen for it.
/// @param config names the scenario (env.scenario); receives settings that the program chooses for
///   the scenario because the user has not set them
/// @throws ConfigError if the controllers could command nothing there
inline void look_at_network(config::Config& config, const std::vector<std::string>& controllers,
                            const train::Say& say) {
  const sim::NetworkReport report = sim::look_at_networks(config, {.controllers = controllers});
  for (const std::string& summary : report.summaries) say(summary);
  for (const sim::StudyFinding& finding : report.findings) {
    if (finding.severity != sim::Severity::kError) {
      say(fmt::format("{}{}", finding.severity == sim::Severity::kWarning ? "warning: " : "",
                      finding.text()));
    }
  }
  sim::require_usable(report.findings);
}

}  // namespace traffic::apps
