/// replay.html: recorded traffic on its network, side by side and in step, for a browser.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace traffic::report {

/// One page without other files.
/// @param replay the network, and the vehicles under each controller: see
/// docs/reference/run-folder.md
std::string replay_page(const nlohmann::ordered_json& replay);

/// The name of a controller for people: "none", or of a checkpoint the file's name: "phase3".
std::string controller_label(const std::string& name);

}  // namespace traffic::report
