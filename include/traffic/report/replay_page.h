/// Makes replay.html: a page that plays recorded traffic on its road network. It shows the same
/// traffic under two controllers side by side.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace traffic::report {

/// The HTML of the page, which needs no other file.
/// @param replay the network, and the vehicles under each controller, in the format that
///   docs/reference/run-folder.md describes
std::string replay_page(const nlohmann::ordered_json& replay);

/// The name of a controller for display. For a script it is the name of the script, e.g. "none".
/// For a checkpoint it is the name of the file without extension, e.g. "phase3".
std::string controller_label(const std::string& name);

}  // namespace traffic::report
